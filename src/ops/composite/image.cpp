// Padding by mode, rearrangements of pixels, sizes of interpolation, affine grids.
#include <cmath>

#include "gen/ops/arith.h"
#include "gen/ops/create.h"
#include "gen/ops/interpolate.h"
#include "gen/ops/join.h"
#include "gen/ops/pad.h"
#include "gen/ops/views.h"
#include "ops/formula.h"

namespace rl::composite {

// ---- padding ---------------------------------------------------------------------------------

namespace {

enum PadMode { kReflect, kReplicate, kCircular };

void check_reflection(const Tensor& self, IntRef pad) {
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t d = self.dim() - 1 - int64_t(i), n = self.size(d);
    check(pad[2 * i] < n && pad[2 * i + 1] < n, "Argument #", 4 + 2 * i,
          ": Padding size should be less than the corresponding input dimension, but got: "
          "padding (",
          pad[2 * i], ", ", pad[2 * i + 1], ") at dimension ", d, " of input ", self.sizes());
  }
}

void check_circular(const Tensor& self, IntRef pad) {
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t n = self.size(self.dim() - 1 - int64_t(i));
    check(pad[2 * i] <= n && pad[2 * i + 1] <= n,
        "Padding value causes wrapping around more than once.");
    check(n + pad[2 * i] + pad[2 * i + 1] >= 0,
          "Negative padding value is resulting in an empty dimension");
  }
}

// Around the circle negative widths cut first; the other modes count positions from the original.
Tensor pad_by_position(Tensor self, IntRef pad, int64_t mode) {
  const int64_t spatial = int64_t(pad.size()) / 2;
  if (mode == kReflect) check_reflection(self, pad);
  if (mode == kCircular) check_circular(self, pad);
  for (int64_t d = 1; mode != kCircular && d < self.dim(); ++d)
    check(self.size(d) > 0 || (d == 0 && self.dim() > spatial + 1), "Expected ", spatial + 1,
        "D or ",
          spatial + 2,
              "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
          "for input, but got: ", self.sizes());
  Dims grow(pad);
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t d = self.dim() - 1 - i;
    const int64_t before = pad[size_t(2 * i)], after = pad[size_t(2 * i + 1)];
    check(self.size(d) + before + after >= (mode == kCircular ? 0 : 1), "input (size: ",
        self.size(d),
          ") is too small for the padding. Calculated output size: ",
          self.size(d) + before + after);
    if (mode != kCircular) continue;
    if (before < 0 || after < 0)
      self = rl::slice(self, d, std::max<int64_t>(-before, 0),
                       self.size(d) - std::max<int64_t>(-after, 0), 1);
    grow[size_t(2 * i)] = std::max<int64_t>(before, 0);
    grow[size_t(2 * i + 1)] = std::max<int64_t>(after, 0);
  }
  return rl::_pad_index(self, grow, mode);
}

Tensor checked_pad(const char* name, const Tensor& self, IntRef pad, size_t spatial, int64_t mode) {
  check(pad.size() == 2 * spatial, name, ": padding size is expected to be ", 2 * spatial,
        ", but got: ", pad.size());
  check(self.dim() == int64_t(spatial) + 1 || self.dim() == int64_t(spatial) + 2, "Expected ",
        spatial + 1, "D or ", spatial + 2,
            "D (batch mode) tensor with possibly 0 batch size and other "
        "non-zero dimensions for input, but got: ", self.sizes());
  return pad_by_position(self, pad, mode);
}

}  // namespace

#define RL_PAD(NAME, SPATIAL, MODE)                                  \
  Tensor NAME(const Tensor& self, IntRef padding) {                  \
    return checked_pad(#NAME, self, padding, SPATIAL, MODE);         \
  }
RL_PAD(reflection_pad1d, 1, kReflect)
RL_PAD(reflection_pad2d, 2, kReflect)
RL_PAD(reflection_pad3d, 3, kReflect)
RL_PAD(replication_pad1d, 1, kReplicate)
RL_PAD(replication_pad2d, 2, kReplicate)
RL_PAD(replication_pad3d, 3, kReplicate)

Tensor pad(const Tensor& self, IntRef pad, std::string_view mode, std::optional<double> value) {
  check(pad.size() % 2 == 0, "Padding length must be divisible by 2");
  check(int64_t(pad.size()) <= 2 * self.dim(),
        "Padding length should be less than or equal to two times the input dimension but got "
        "padding "
        "length ", pad.size(), " and input of dimension ", self.dim());
  if (mode == "constant") return rl::constant_pad_nd(self, pad, Scalar(value.value_or(0)));
  check(!value || *value == 0, "Padding mode \"", mode, "\" doesn't take in value argument");
  const int64_t code = mode == "reflect" ? kReflect : mode == "replicate" ? kReplicate
                       : mode == "circular" ? kCircular : -1;
  const int64_t spatial = int64_t(pad.size()) / 2;
  const bool shape = spatial >= 1 && spatial <= 3 &&
                     (self.dim() == spatial + 1 || self.dim() == spatial + 2);
  check_implemented(shape || code < 0, "Padding size ", pad.size(), " is not supported for ",
      self.dim(),
                    "D input tensor.\nSupported combinations for non-constant padding:\n"
                    "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
                    "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
                    "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)");
  check_implemented(code >= 0, "Unrecognised padding mode ", mode);
  if (code == kCircular) return pad_by_position(self, pad, code);
  using Pad = Tensor (*)(const Tensor&, IntRef);
  constexpr Pad kPads[2][3] = {
      {&rl::reflection_pad1d, &rl::reflection_pad2d, &rl::reflection_pad3d},
      {&rl::replication_pad1d, &rl::replication_pad2d, &rl::replication_pad3d}};
  return kPads[code == kReplicate][spatial - 1](self, pad);
}

// ---- rearrangements ----------------------------------------------------------------------------

namespace {

// Sizes before the last three, then `rest`.
Dims batched(const Tensor& self, std::initializer_list<int64_t> rest) {
  Dims out(IntRef(self.sizes().data(), size_t(self.dim() - 3)));
  for (int64_t n : rest) out.push_back(n);
  return out;
}
Tensor permute_tail(const Tensor& t, std::initializer_list<int64_t> order) {
  Dims dims;
  const int64_t batch = t.dim() - int64_t(order.size());
  for (int64_t d = 0; d < batch; ++d) dims.push_back(d);
  for (int64_t d : order) dims.push_back(batch + d);
  return rl::permute(t, dims);
}

}  // namespace

Tensor pixel_shuffle(const Tensor& self, int64_t r) {
  check(self.dim() >= 3,
      "pixel_shuffle expects input to have at least 3 dimensions, but got input with ",
        self.dim(), " dimension(s)");
  check(r > 0, "pixel_shuffle expects a positive upscale_factor, but got ", r);
  const int64_t c = self.size(-3), h = self.size(-2), w = self.size(-1);
  check(r < (int64_t(1) << 31), "pixel_shuffle: upscale_factor ", r, " is too large");
  check(c % (r * r) == 0,
      "pixel_shuffle expects its input's 'channel' dimension to be divisible by the "
        "square of upscale_factor, but input.size(-3)=", c, " is not divisible by ", r * r);
  const Tensor split = rl::reshape(self, batched(self, {c / (r * r), r, r, h, w}));
  return rl::reshape(permute_tail(split, {0, 3, 1, 4, 2}), batched(self, {c / (r * r), h * r,
      w * r}));
}

Tensor pixel_unshuffle(const Tensor& self, int64_t r) {
  check(self.dim() >= 3,
      "pixel_unshuffle expects input to have at least 3 dimensions, but got input with ",
        self.dim(), " dimension(s)");
  check(r > 0, "pixel_unshuffle expects a positive downscale_factor, but got ", r);
  const int64_t c = self.size(-3), h = self.size(-2), w = self.size(-1);
  check(h % r == 0, "pixel_unshuffle expects height to be divisible by downscale_factor, but "
        "input.size(-2)=", h, " is not divisible by ", r);
  check(w % r == 0, "pixel_unshuffle expects width to be divisible by downscale_factor, but "
        "input.size(-1)=", w, " is not divisible by ", r);
  const Tensor split = rl::reshape(self, batched(self, {c, h / r, r, w / r, r}));
  return rl::reshape(permute_tail(split, {0, 2, 4, 1, 3}), batched(self, {c * r * r, h / r,
      w / r}));
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  check(self.dim() > 2, "channel_shuffle expects input with > 2 dims, but got input with sizes ",
        self.sizes());
  check(groups > 0, "Number of groups to divide channels in must be positive. Value of groups:",
      groups);
  const int64_t c = self.size(1);
  check(c % groups == 0, "Number of channels must be divisible by groups. Got ", c,
      " channels and ",
        groups, " groups.");
  Dims split{self.size(0), groups, c / groups};
  for (int64_t d = 2; d < self.dim(); ++d) split.push_back(self.size(d));
  return rl::reshape(rl::transpose(rl::reshape(self, split), 1, 2), self.sizes());
}

// ---- interpolation -----------------------------------------------------------------------------

namespace {

enum Mode { kNearest, kNearestExact, kLinear, kCubic, kLinearAA, kCubicAA, kLanczosAA };

Tensor resampled(const Tensor& x, std::optional<IntRef> size,
    std::optional<ArrayRef<double>> scales,
                 int64_t spatial, int64_t mode, bool align_corners) {
  check(size || scales, "Must specify exactly one of output_size and scale_factors");
  check(x.dim() == spatial + 2, "It is expected input_size equals to ", spatial + 2,
      ", but got size ",
        x.dim());
  check(!size || int64_t(size->size()) == spatial, "It is expected output_size equals to ", spatial,
        ", but got size ", size ? size->size() : 0);
  check(!scales || int64_t(scales->size()) == spatial, "It is expected scale_factors equals to ",
        spatial, ", but got size ", scales ? scales->size() : 0);
  Dims out;
  std::vector<double> factors;
  for (int64_t d = 0; d < spatial; ++d) {
    factors.push_back(scales ? (*scales)[size_t(d)] : 0);
    out.push_back(size ? (*size)[size_t(d)]
                       : int64_t(double(x.size(d + 2)) * (*scales)[size_t(d)]));
  }
  bool positive = true;
  for (int64_t d = 0; d < spatial; ++d) positive = positive && x.size(d + 2) > 0
      && out[size_t(d)] > 0;
  auto shown = [&](auto&& at) {
    static constexpr const char* kNames[] = {"D: ", "H: ", "W: "};
    std::string s;
    for (int64_t d = 0; d < spatial; ++d)
      s += (d ? ", " : "") + std::string(kNames[3 - spatial + d]) + std::to_string(at(d));
    return s;
  };
  check(positive, "Input and output sizes should be greater than 0, but got input (",
        shown([&](int64_t d) { return x.size(d + 2); }), ") output (",
        shown([&](int64_t d) { return out[size_t(d)]; }), ")");
  check(x.size(1) != 0, "Non-empty ", spatial + 2,
      "D data tensor expected but got a tensor with sizes ",
        x.sizes());
  return rl::_resample(x, out, mode, align_corners, factors);
}

}  // namespace

#define RL_NEAREST(NAME, SPATIAL, MODE)                                                          \
  Tensor NAME(const Tensor& x, std::optional<IntRef> size,                                       \
              std::optional<ArrayRef<double>> scales) {                                          \
    return resampled(x, size, scales, SPATIAL, MODE, false);                                     \
  }
#define RL_UPSAMPLE(NAME, SPATIAL, MODE)                                                         \
  Tensor NAME(const Tensor& x, std::optional<IntRef> size, bool align_corners,                   \
              std::optional<ArrayRef<double>> scales) {                                          \
    return resampled(x, size, scales, SPATIAL, MODE, align_corners);                             \
  }
RL_NEAREST(upsample_nearest1d, 1, kNearest)
RL_NEAREST(upsample_nearest2d, 2, kNearest)
RL_NEAREST(upsample_nearest3d, 3, kNearest)
RL_NEAREST(_upsample_nearest_exact1d, 1, kNearestExact)
RL_NEAREST(_upsample_nearest_exact2d, 2, kNearestExact)
RL_NEAREST(_upsample_nearest_exact3d, 3, kNearestExact)
RL_UPSAMPLE(upsample_linear1d, 1, kLinear)
RL_UPSAMPLE(upsample_bilinear2d, 2, kLinear)
RL_UPSAMPLE(upsample_trilinear3d, 3, kLinear)
RL_UPSAMPLE(upsample_bicubic2d, 2, kCubic)
RL_UPSAMPLE(_upsample_bilinear2d_aa, 2, kLinearAA)
RL_UPSAMPLE(_upsample_bicubic2d_aa, 2, kCubicAA)
RL_UPSAMPLE(_upsample_lanczos2d_aa, 2, kLanczosAA)

// ---- grids -------------------------------------------------------------------------------------

Tensor grid_sampler_nd(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding,
                       bool align_corners) {
  return rl::grid_sampler(input, grid, mode, padding, align_corners);
}

// Coordinate i of the points is sum_j theta[:, i, j] x_j + theta[:, i, last].
Tensor affine_grid_generator(const Tensor& theta, IntRef size, bool align_corners) {
  const int64_t d = int64_t(size.size()) - 2;
  check(d == 2 || d == 3, "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.");
  const int64_t n = size[0];
  std::vector<Tensor> axes;  // x, y, z, each shaped to broadcast
  for (int64_t j = 0; j < d; ++j) {
    const int64_t at = d - 1 - j, count = size[size_t(at + 2)];
    Tensor line = count > 1 ? rl::linspace(Scalar(-1.0), Scalar(1.0), count, theta.dtype(),
        theta.device())
                            : rl::zeros(IntRef(&count, 1), theta.dtype(), theta.device());
    if (!align_corners) line = line * Scalar(double(count - 1) / double(count));
    Dims shape(size_t(d + 1), 1);
    shape[size_t(at + 1)] = count;
    axes.push_back(rl::view(line, shape));
  }
  Dims one(size_t(d + 1), 1), full{n};
  one[0] = n;
  for (int64_t j = 0; j < d; ++j) full.push_back(size[size_t(j + 2)]);
  std::vector<Tensor> coordinates;
  for (int64_t i = 0; i < d; ++i) {
    const Tensor row = rl::select(theta, 1, i);
    auto entry = [&](int64_t j) { return rl::reshape(rl::select(row, 1, j), one); };
    Tensor sum = entry(d);
    for (int64_t j = 0; j < d; ++j) sum = sum + entry(j) * axes[size_t(j)];
    coordinates.push_back(rl::expand(sum, full, false));
  }
  return rl::stack(coordinates, -1);
}

}  // namespace rl::composite
