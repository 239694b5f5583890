// Sliding blocks of images as columns, and their sum back into images.
#include "ops/native.h"

namespace rl::native {
namespace {

struct Geometry {
  int64_t n, c, h, w, kh, kw, dh, dw, ph, pw, sh, sw, lh, lw;
};

int64_t blocks(int64_t size, int64_t kernel, int64_t dilation, int64_t padding, int64_t stride) {
  return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

void check_windows(IntRef kernel, IntRef dilation, IntRef padding, IntRef stride) {
  check(kernel.size() == 2, "It is expected kernel_size equals to 2, but got size ", kernel.size());
  check(kernel[0] > 0 && kernel[1] > 0,
      "kernel size should be greater than zero, but got kernel_height: ",
        kernel[0], " kernel_width: ", kernel[1]);
  check(dilation[0] > 0 && dilation[1] > 0,
        "dilation should be greater than zero, but got dilation_height: ", dilation[0],
        " dilation_width: ", dilation[1]);
  check(padding[0] >= 0 && padding[1] >= 0, "padding should be non-negative, but got pad_height: ",
        padding[0], " pad_width: ", padding[1]);
  check(stride[0] > 0 && stride[1] > 0,
      "stride should be greater than zero, but got stride_height: ",
        stride[0], " stride_width: ", stride[1]);
}

Geometry geometry(int64_t n, int64_t c, int64_t h, int64_t w, IntRef k, IntRef d, IntRef p,
    IntRef s) {
  return {n, c, h, w, k[0], k[1], d[0], d[1], p[0], p[1], s[0], s[1],
          blocks(h, k[0], d[0], p[0], s[0]), blocks(w, k[1], d[1], p[1], s[1])};
}

// The windows of a row-major padded image as a view (n, c, kh, kw, lh, lw).
Tensor windows(const Tensor& padded, const Geometry& g) {
  const IntRef st = padded.strides();
  const int64_t sizes[] = {g.n, g.c, g.kh, g.kw, g.lh, g.lw};
  const int64_t strides[] = {st[0], st[1], st[2] * g.dh, st[3] * g.dw, st[2] * g.sh, st[3] * g.sw};
  return alias(padded, IntRef(sizes, 6), IntRef(strides, 6), padded.offset());
}

template <class R>
void add_windows(const Tensor& columns, const Tensor& padded, const Geometry& g, int64_t parts) {
  const R* x = static_cast<const R*>(columns.data());
  const int64_t H = g.h + 2 * g.ph, W = g.w + 2 * g.pw;
  for (int64_t image = 0; image < g.n * g.c; ++image) {
    R* plane = static_cast<R*>(padded.data()) + image * H * W * parts;
    for (int64_t i = 0; i < g.kh; ++i)
      for (int64_t j = 0; j < g.kw; ++j)
        for (int64_t a = 0; a < g.lh; ++a)
          for (int64_t b = 0; b < g.lw; ++b) {
            R* to = plane + ((i * g.dh + a * g.sh) * W + j * g.dw + b * g.sw) * parts;
            for (int64_t p = 0; p < parts; ++p) to[p] += *x++;
          }
  }
}

}  // namespace

Tensor im2col(const Tensor& self, IntRef kernel, IntRef dilation, IntRef padding, IntRef stride) {
  check_windows(kernel, dilation, padding, stride);
  const bool batched = self.dim() == 4;
  check(self.dim() == 3 || batched,
        "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
        "dimensions for input, but got: ", self.sizes());
  const Tensor x = batched ? self : unsqueeze(self, 0);
  const Geometry g =
      geometry(x.size(0), x.size(1), x.size(2), x.size(3), kernel, dilation, padding, stride);
  check(g.lh >= 1 && g.lw >= 1, "Given input with spatial size (", g.h, ", ", g.w,
      "), kernel_size=(",
        g.kh, ", ", g.kw, "), dilation=(", g.dh, ", ", g.dw, "), padding=(", g.ph, ", ", g.pw,
        "), calculated shape of the array of sliding blocks as (", g.lh, ", ", g.lw,
        "), but its components must be at least one.");
  const int64_t rows = g.c * g.kh * g.kw, count = g.lh * g.lw;
  Tensor out = batched ? empty_tensor({g.n, rows, count}, self.dtype(), self.device())
                       : empty_tensor({rows, count}, self.dtype(), self.device());
  if (out.is_meta() || out.numel() == 0) return out;
  Tensor padded = empty_tensor({g.n, g.c, g.h + 2 * g.ph, g.w + 2 * g.pw}, self.dtype(),
      self.device());
  if (g.ph || g.pw) fill(padded, Scalar(int64_t(0)));
  copy_into(narrow(narrow(padded, 2, g.ph, g.h), 3, g.pw, g.w), x);
  copy_into(view(out, {g.n, g.c, g.kh, g.kw, g.lh, g.lw}), windows(padded, g));
  return out;
}

Tensor col2im(const Tensor& self, IntRef output_size, IntRef kernel, IntRef dilation,
    IntRef padding,
              IntRef stride) {
  check_windows(kernel, dilation, padding, stride);
  const bool batched = self.dim() == 3;
  check(self.dim() == 2 || batched,
        "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero "
        "dimensions for input, but got: ", self.sizes());
  const Tensor x = batched ? self : unsqueeze(self, 0);
  const int64_t block = kernel[0] * kernel[1];
  check(x.size(1) % block == 0,
      "Expected size of input's dimension 1 to be divisible by the product of "
        "kernel_size, but got input.size(1)=", x.size(1), " and kernel_size=(", kernel[0], ", ",
        kernel[1], ").");
  const Geometry g = geometry(x.size(0), x.size(1) / block, output_size[0], output_size[1], kernel,
                              dilation, padding, stride);
  check(x.size(2) == g.lh * g.lw, "Given output_size=(", g.h, ", ", g.w, "), kernel_size=(", g.kh,
      ", ",
        g.kw, "), dilation=(", g.dh, ", ", g.dw, "), padding=(", g.ph, ", ", g.pw, "), stride=(",
            g.sh,
        ", ", g.sw,
        "), expected size of input's dimension 2 to match the calculated number of sliding "
        "blocks ", g.lh, " * ", g.lw, " = ", g.lh * g.lw, ", but got input.size(2)=", x.size(2),
        ".");
  const DType d = self.dtype();
  const bool complex = is_complex(d);
  const DType compute = complex || d == DType::Double ? d : DType::Float;
  const int64_t full[] = {g.n, g.c, g.h, g.w};
  const IntRef sizes(full + (batched ? 0 : 1), batched ? 4 : 3);
  if (self.is_meta()) return empty_tensor(sizes, d, self.device());
  const Tensor columns = contiguous(to_dtype(x, compute));
  Tensor padded = empty_tensor({g.n, g.c, g.h + 2 * g.ph, g.w + 2 * g.pw}, compute, self.device());
  fill(padded, Scalar(int64_t(0)));
  if (compute == DType::Double || compute == DType::ComplexDouble)
    add_windows<double>(columns, padded, g, complex ? 2 : 1);
  else
    add_windows<float>(columns, padded, g, complex ? 2 : 1);
  const Tensor inside = narrow(narrow(padded, 2, g.ph, g.h), 3, g.pw, g.w);
  return reshape(to_dtype(contiguous(inside), d), sizes);
}

}  // namespace rl::native
