// Histograms over any number of dimensions.
#include <algorithm>
#include <cmath>

#include "ops/index_tools.h"

namespace rl::native {
Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, std::optional<DType> dtype,
                std::optional<Device> device);

namespace {

struct Axis {
  std::vector<double> edges;
  bool uniform = false;
};

// The bin of v, or -1. Bins hold their left edge; the last one also its right edge.
template <class T>
int64_t bin_of(const std::vector<T>& edges, T v, bool uniform, bool exact) {
  const int64_t bins = int64_t(edges.size()) - 1;
  const T first = edges.front(), last = edges.back();
  if (!(v >= first && v <= last)) return -1;
  int64_t at;
  if (uniform) {
    at = int64_t((v - first) * T(bins) / (last - first));
    at = std::clamp<int64_t>(at, 0, bins);
    if (exact) {  // the division may be off by one
      const int64_t low = std::max<int64_t>(at - 1, 0), high = std::min(at + 2, bins + 1);
      at = std::upper_bound(edges.begin() + low, edges.begin() + high, v) - edges.begin() - 1;
    }
  } else {
    at = std::upper_bound(edges.begin(), edges.end(), v) - edges.begin() - 1;
  }
  return std::min(at, bins - 1);
}

// points: (n, dims), row-major, of T.
template <class T>
void count(const Tensor& points, const Tensor& weight, const std::vector<Tensor>& edges,
           bool uniform, bool exact, const Tensor& hist) {
  std::vector<std::vector<T>> axes;
  for (const Tensor& e : edges) axes.emplace_back(e.data<T>(), e.data<T>() + e.numel());
  const int64_t dims = int64_t(axes.size()), n = points.numel() / std::max<int64_t>(dims, 1);
  const T* p = points.data<T>();
  const T* w = weight.defined() ? weight.data<T>() : nullptr;
  T* to = hist.data<T>();
  for (int64_t i = 0; i < n; ++i) {
    int64_t place = 0;
    for (int64_t d = 0; d < dims && place >= 0; ++d) {
      const auto& e = axes[size_t(d)];
      const int64_t at = bin_of<T>(e, p[i * dims + d], uniform, exact);
      place = at < 0 ? -1 : place * (int64_t(e.size()) - 1) + at;
    }
    if (place >= 0) to[place] += w ? w[i] : T(1);
  }
}

void density(const Tensor& hist, const std::vector<Tensor>& edges) {
  visit(RealFloatTypes{}, hist.dtype(), "histogramdd", [&]<class T>() {
    T* p = hist.data<T>();
    T total = 0;
    for (int64_t i = 0; i < hist.numel(); ++i) total += p[i];
    int64_t inner = hist.numel();
    for (int64_t i = 0; i < hist.numel(); ++i) p[i] /= total;
    for (const Tensor& e : edges) {
      const int64_t bins = e.numel() - 1;
      inner /= bins;
      for (int64_t i = 0; i < hist.numel(); ++i) {
        const int64_t b = i / inner % bins;
        p[i] /= e.data<T>()[b + 1] - e.data<T>()[b];
      }
    }
  });
}

struct Range {
  double low, high;
};

// The range of a column, widened when it is a single point.
Range range_of(const Tensor& points, int64_t dims, int64_t d, const char* name) {
  Range r{0, 1};
  const Tensor t = contiguous(to_dtype(points, DType::Double));
  const double* p = t.data<double>();
  const int64_t n = t.numel() / std::max<int64_t>(dims, 1);
  if (n > 0) r = {p[d], p[d]};
  for (int64_t i = 1; i < n; ++i) {
    const double v = p[i * dims + d];
    if (v < r.low || std::isnan(v)) r.low = v;
    if (v > r.high || std::isnan(v)) r.high = v;
    if (std::isnan(v)) break;
  }
  check(std::isfinite(r.low) && std::isfinite(r.high), "torch.histogramdd: dimension ", d,
      "'s range [",
        r.low, ", ", r.high, "] is not finite");
  (void)name;
  return r;
}

Range widened(Range r) { return r.low == r.high ? Range{r.low - 0.5, r.high + 0.5} : r; }

Tensor uniform_edges(int64_t bins, Range r, DType dtype) {
  return linspace(Scalar(r.low), Scalar(r.high), bins + 1, dtype, Device{});
}

void check_weight(const Tensor& points, const Tensor& weight) {
  if (!weight.defined()) return;
  Dims sizes(points.sizes());
  sizes.pop_back();
  check(Dims(weight.sizes()) == sizes, "torch.histogramdd: if weight tensor is provided it should "
      "have the "
        "same shape as the input tensor excluding its innermost dimension, but got input with "
        "shape ",
        points.sizes(), " and weight with shape ", weight.sizes());
  check(weight.dtype() == points.dtype(), "torch.histogramdd: if weight tensor is provided, the "
      "input tensor "
        "and weight tensor should have the same dtype, but got input(", points.dtype(),
        "), and weight(",
        weight.dtype(), ")");
}

Tensor run(const Tensor& self, const Tensor& weight, const std::vector<Tensor>& edges, bool uniform,
           bool exact, bool dense) {
  Dims sizes;
  for (const Tensor& e : edges) sizes.push_back(e.numel() - 1);
  Tensor hist = full(sizes, Scalar(0), self.dtype(), self.device());
  const Tensor points = contiguous(self);
  const Tensor w = weight.defined() ? contiguous(weight) : Tensor();
  visit(RealFloatTypes{}, self.dtype(), "histogramdd", [&]<class T>() {
    count<T>(points, w, edges, uniform, exact, hist);
  });
  if (dense) density(hist, edges);
  return hist;
}

void check_input(const Tensor& self) {
  check_implemented(!self.is_meta(), "histogramdd: not for meta tensors, whose range is unknown");
  check(self.dim() >= 2, "torch.histogramdd: input tensor should have at least 2 dimensions, but "
      "got ",
        self.dim());
  if (self.dtype() != DType::Float && self.dtype() != DType::Double)
    dtype_not_implemented("histogramdd", self.dtype());
}

Range given_range(ArrayRef<double> range, size_t d) {
  const Range r{range[2 * d], range[2 * d + 1]};
  check(r.low <= r.high, "torch.histogramdd: min should not exceed max, but got min ", r.low,
      " max ",
        r.high, " for dimension ", d);
  return r;
}

using Result = std::tuple<Tensor, std::vector<Tensor>>;

}  // namespace

Result histogramdd_bins(const Tensor& self, IntRef bins, std::optional<ArrayRef<double>> range,
                        const Tensor& weight, bool dense) {
  check_input(self);
  const int64_t dims = self.size(-1);
  check(int64_t(bins.size()) == dims, "histogramdd: The size of bins must be equal to the "
      "innermost "
        "dimension of the input.");
  check(!range || int64_t(range->size()) == 2 * dims, "torch.histogramdd: for a ", dims,
        "-dimensional histogram range should have ", 2 * dims, " elements, but got ",
        range ? range->size() : 0);
  for (size_t d = 0; d < bins.size(); ++d)
    check(bins[d] > 0, "torch.histogram(): bins must be > 0, but got ", bins[d],
        " for dimension ", d);
  check_weight(self, weight);
  std::vector<Tensor> edges;
  for (size_t d = 0; d < bins.size(); ++d) {
    const Range r = range ? given_range(*range, d) : range_of(self, dims, int64_t(d),
        "histogramdd");
    edges.push_back(uniform_edges(bins[d], widened(r), self.dtype()));
  }
  return {run(self, weight, edges, true, true, dense), edges};
}

Result histogramdd_int(const Tensor& self, int64_t bins, std::optional<ArrayRef<double>> range,
                       const Tensor& weight, bool dense) {
  check_input(self);
  return histogramdd_bins(self, Dims(size_t(self.size(-1)), bins), range, weight, dense);
}

Result histogramdd_edges(const Tensor& self, TensorList bins, std::optional<ArrayRef<double>>,
                         const Tensor& weight, bool dense) {
  check_input(self);
  check(int64_t(bins.size()) == self.size(-1), "histogramdd: The size of bins must be equal to the "
        "innermost dimension of the input.");
  check_weight(self, weight);
  std::vector<Tensor> edges;
  for (size_t d = 0; d < bins.size(); ++d) {
    check(bins[d].dim() == 1, "torch.histogramdd: bins tensor should have one dimension, but got ",
          bins[d].dim(), " dimensions in the bins tensor for dimension ", d);
    check(bins[d].numel() > 0, "torch.histogramdd: bins tensor should have at least 1 element, "
        "but got ",
          bins[d].numel(), " elements in the bins tensor for dimension ", d);
    check(bins[d].dtype() == self.dtype(), "torch.histogramdd: input tensor and bins tensors "
        "should have "
          "the same dtype, but got input with dtype ", self.dtype(), " and bins for dimension ", d,
          " with dtype ", bins[d].dtype());
    edges.push_back(row_major_clone(bins[d]));
  }
  return {run(self, weight, edges, false, true, dense), edges};
}

// ---- one dimension
namespace {
Tensor column_of(const Tensor& t) {
  check_implemented(!t.is_meta(), "histogram: meta tensors have no values to count");
  return t.defined() ? view(contiguous(t), {t.numel(), 1}) : t;
}
Tensor flat_weight(const Tensor& self, const Tensor& w) {
  if (!w.defined()) return w;
  return w.sizes() == self.sizes() ? view(contiguous(w), {w.numel()}) : w;
}
}  // namespace

std::tuple<Tensor, Tensor> histogram_edges(const Tensor& self, const Tensor& bins,
    const Tensor& weight,
                                           bool dense) {
  const Tensor list[] = {bins};
  auto [hist, edges] = histogramdd_edges(column_of(self), list, std::nullopt, flat_weight(self,
      weight),
                                         dense);
  return {hist, edges[0]};
}
std::tuple<Tensor, Tensor> histogram_count(const Tensor& self, int64_t bins,
                                           std::optional<ArrayRef<double>> range,
                                           const Tensor& weight,
                                           bool dense) {
  auto [hist, edges] = histogramdd_bins(column_of(self), {bins}, range, flat_weight(self,
      weight), dense);
  return {hist, edges[0]};
}

namespace {

// 16-bit types round after every operation and count in their own precision.
template <class T>
void count_rounded(const Tensor& self, int64_t bins, Range r, const Tensor& hist) {
  auto rounded = [](float v) { return float(T(v)); };
  const T* p = self.data<T>();
  T* to = hist.data<T>();
  const float first = rounded(float(r.low)), last = rounded(float(r.high));
  const float width = rounded(last - first), number = rounded(float(bins));
  for (int64_t i = 0; i < self.numel(); ++i) {
    const float v = float(p[i]);
    if (!(v >= first && v <= last)) continue;
    const float at = rounded(rounded(rounded(v - first) * number) / width);
    const int64_t bin = std::clamp<int64_t>(int64_t(at), 0, bins - 1);
    to[bin] = T(float(to[bin]) + 1.0f);
  }
}

}  // namespace

Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  const DType d = self.dtype();
  if (!is_floating(d)) dtype_not_implemented("histogram_cpu", d);
  check(bins > 0, "torch.histogram(): bins must be > 0, but got ", bins, " for dimension 0");
  Tensor points = column_of(self);
  if (d != DType::Float && d != DType::Double) points = to_dtype(points, DType::Float);
  Range r{min.to_double(), max.to_double()};
  if (r.low == r.high && self.numel() > 0) {
    const Tensor t = to_dtype(points, DType::Double);
    const double* p = t.data<double>();
    r = {*std::min_element(p, p + t.numel()), *std::max_element(p, p + t.numel())};
    for (int64_t i = 0; i < t.numel(); ++i)
      if (std::isnan(p[i])) r = {p[i], p[i]};
  }
  if (r.low == r.high) r = {r.low - 1, r.high + 1};
  check(std::isfinite(r.low) && std::isfinite(r.high), "torch.histc: range of [", r.low, ", ",
      r.high,
        "] is not finite");
  check(r.low < r.high, "torch.histc: max must be larger than min");
  if (d == DType::Half || d == DType::BFloat16) {
    Tensor hist = full({bins}, Scalar(0), d, self.device());
    visit(TypeList<half, bfloat16>{}, d, "histogram_cpu", [&]<class T>() {
      count_rounded<T>(contiguous(self), bins, r, hist);
    });
    return hist;
  }
  const Tensor edges = uniform_edges(bins, r, points.dtype());
  return to_dtype(run(points, Tensor(), {edges}, true, false, false), d);
}

}  // namespace rl::native
