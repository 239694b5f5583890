// x[indices] and its assignment: several index tensors, masks and whole dimensions together.
#include <algorithm>

#include "base/parallel.h"
#include "base/warn.h"
#include "ops/index_tools.h"

namespace rl::native {
Tensor nonzero(const Tensor& self);
Tensor masked_select(const Tensor& self, const Tensor& mask);
void masked_fill_scalar_(const Tensor& self, const Tensor& mask, const Scalar& value);

namespace {

bool is_mask(const Tensor& t) { return t.dtype() == DType::Bool || t.dtype() == DType::UInt8; }

// Masks become one index tensor for each of their dimensions.
std::vector<Tensor> without_masks(const Tensor& self, TensorList indices) {
  std::vector<Tensor> out;
  for (const Tensor& t : indices) {
    if (!t.defined()) {
      out.emplace_back();
      continue;
    }
    check_index(t.dtype() == DType::Int64 || t.dtype() == DType::Int32 || is_mask(t),
                "tensors used as indices must be long, int, byte or bool tensors");
    if (!is_mask(t)) {
      out.push_back(t);
      continue;
    }
    if (t.dtype() == DType::UInt8)
      warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
           "instead.");
    const int64_t first = int64_t(out.size());
    for (int64_t d = 0; d < t.dim(); ++d)
      check_index(first + d < self.dim() && t.size(d) == self.size(first + d),
                  "The shape of the mask ", t.sizes(), " at index ", d,
                  " does not match the shape of the indexed tensor ", self.sizes(), " at index ",
                  first + d);
    Tensor places = native::nonzero(t);
    for (int64_t d = 0; d < t.dim(); ++d) out.push_back(native::select(places, 1, d));
  }
  return out;
}

Dims common_shape(const std::vector<Tensor>& indices) {
  Dims shape;
  try {
    for (const Tensor& t : indices)
      if (t.defined()) shape = broadcast_shapes(shape, t.sizes());
  } catch (const Error&) {
    std::string shapes;
    for (const Tensor& t : indices) {
      if (!t.defined()) continue;
      if (!shapes.empty()) shapes += ", ";
      append(shapes, t.sizes());
    }
    fail_as(ErrorKind::Index, "shape mismatch: indexing tensors could not be broadcast together "
            "with shapes ", shapes);
  }
  return shape;
}

// Where the elements lie: result position (before, at, after) is element
// before[i] + at[j] + after[k] of self.
struct Plan {
  Dims result;                 // sizes
  Dims strides;                // of the result in memory, as the iteration order gives them
  std::vector<int64_t> before, at, after;
  bool dense_after = false;    // after[k] == k
};

void place_indices(Plan& plan, const Tensor& self, const std::vector<Tensor>& indices,
                   IntRef shape) {
  const int64_t n = numel_of(shape);
  plan.at.assign(size_t(n), 0);
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d].defined()) continue;
    const int64_t size = self.size(int64_t(d)), stride = self.stride(int64_t(d));
    const Tensor t = index_numbers(native::expand(indices[d], shape));
    const int64_t* p = t.data<int64_t>();
    if (const int64_t bad = first_outside(p, n, -size, size); bad >= 0)
      fail_as(ErrorKind::Index, "index ", p[bad], " is out of bounds for dimension ", d,
              " with size ", size);
    for (int64_t i = 0; i < n; ++i) plan.at[size_t(i)] += (p[i] < 0 ? p[i] + size : p[i]) * stride;
  }
}

// Strides of the result: dimensions ordered by the memory of self, then of the index tensors.
void order_result(Plan& plan, const Tensor& self, const std::vector<Tensor>& indices, IntRef shape,
                  const Dims& before, const Dims& after) {
  std::vector<Dims> strides(1);
  for (int64_t d : before) strides[0].push_back(self.stride(d));
  for (size_t i = 0; i < shape.size(); ++i) strides[0].push_back(0);
  for (int64_t d : after) strides[0].push_back(self.stride(d));
  for (const Tensor& t : indices) {
    if (!t.defined()) continue;
    const Tensor e = native::expand(t, shape);
    Dims s(before.size(), 0);
    for (int64_t v : e.strides()) s.push_back(v);
    for (size_t i = 0; i < after.size(); ++i) s.push_back(0);
    strides.push_back(std::move(s));
  }
  plan.strides = strides_in_order(plan.result, order_of_dims(plan.result, strides));
}

Plan make_plan(const Tensor& self, TensorList given) {
  check_index(!given.empty(), "at least one index must be provided");
  check_index(int64_t(given.size()) <= self.dim(), "too many indices for tensor of dimension ",
              self.dim(), " (got ", given.size(), ")");
  std::vector<Tensor> indices = without_masks(self, given);
  check_index(int64_t(indices.size()) <= self.dim(), "too many indices for tensor of dimension ",
              self.dim(), " (got ", indices.size(), ")");
  indices.resize(size_t(self.dim()));
  const Dims shape = common_shape(indices);
  // Index tensors side by side keep their place; otherwise their dimensions come first.
  int64_t first = -1, last = -1, count = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!indices[size_t(d)].defined()) continue;
    if (first < 0) first = d;
    last = d;
    ++count;
  }
  const bool adjacent = count > 0 && last - first + 1 == count;
  Dims before, after;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (!indices[size_t(d)].defined()) (adjacent && d < first ? before : after).push_back(d);

  Plan plan;
  auto sizes_of = [&](const Dims& dims) {
    Dims s;
    for (int64_t d : dims) s.push_back(self.size(d));
    return s;
  };
  auto strides_of = [&](const Dims& dims) {
    Dims s;
    for (int64_t d : dims) s.push_back(self.stride(d));
    return s;
  };
  for (int64_t s : sizes_of(before)) plan.result.push_back(s);
  for (int64_t s : shape) plan.result.push_back(s);
  for (int64_t s : sizes_of(after)) plan.result.push_back(s);
  order_result(plan, self, indices, shape, before, after);
  if (self.is_meta()) return plan;
  if (numel_of(plan.result) == 0) {
    for (int64_t d = 0; d < self.dim(); ++d)
      check_index(!indices[size_t(d)].defined() || self.size(d) > 0 || numel_of(shape) == 0 ||
                      numel_of(sizes_of(before)) * numel_of(sizes_of(after)) == 0,
                  "index is out of bounds for dimension with size 0");
    return plan;
  }
  place_indices(plan, self, indices, shape);
  plan.before = all_offsets(sizes_of(before), strides_of(before));
  plan.after = all_offsets(sizes_of(after), strides_of(after));
  plan.dense_after = true;
  for (size_t k = 0; k < plan.after.size() && plan.dense_after; ++k)
    plan.dense_after = plan.after[k] == int64_t(k);
  return plan;
}

char* address(const Tensor& t, int64_t element) {
  return static_cast<char*>(t.data()) + element * t.itemsize();
}

// Calls f(offset in self, places, element of the result, count) for each run of the result.
template <class F>
void for_runs(const Plan& plan, int64_t begin, int64_t end, F&& f) {
  const int64_t nk = int64_t(plan.at.size()), na = int64_t(plan.after.size());
  if (na == 1) {  // the last result dimension is an indexed one: one run for each `before`
    for (int64_t r = begin; r < end;) {
      const int64_t b = r / nk, k = r % nk, n = std::min(nk - k, end - r);
      f(plan.before[size_t(b)] + plan.after[0], RowPlaces{plan.at.data() + k, 1, 0}, r, n);
      r += n;
    }
    return;
  }
  const RowPlaces places = plan.dense_after ? RowPlaces{} : RowPlaces{plan.after.data(), 1, 0};
  for (int64_t r = begin; r < end; ++r)
    f(plan.before[size_t(r / nk)] + plan.at[size_t(r % nk)], places, r * na, na);
}

int64_t runs_of(const Plan& plan) { return int64_t(plan.before.size() * plan.at.size()); }

}  // namespace

namespace {

// The place of the only index tensor when that is a bool mask of fitting shape, else -1.
int64_t only_mask(const Tensor& self, TensorList indices) {
  int64_t at = -1;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i].defined()) continue;
    if (at >= 0) return -1;
    at = int64_t(i);
  }
  if (at < 0) return -1;
  const Tensor& m = indices[size_t(at)];
  if (m.dtype() != DType::Bool || m.dim() == 0 || at + m.dim() > self.dim()) return -1;
  return m.sizes() == self.sizes().slice(size_t(at), size_t(m.dim())) ? at : -1;
}

// self[mask] = number, without looking for the places.
bool fill_by_mask(const Tensor& self, TensorList indices, const Tensor& values) {
  if (values.numel() != 1 || values.dtype() != self.dtype() || self.is_meta()) return false;
  const int64_t at = only_mask(self, indices);
  if (at < 0 || itemsize(self.dtype()) == 0 || values.dim() > 1 || has_internal_overlap(self))
    return false;
  const Tensor& m = indices[size_t(at)];
  Dims sizes(m.sizes());
  for (int64_t d = at + m.dim(); d < self.dim(); ++d) sizes.push_back(1);
  const DType d = self.dtype();
  if (is_float8(d) || (d >= DType::UInt16 && d <= DType::UInt64)) return false;
  masked_fill_scalar_(self, reshape(m, sizes), item(values));
  return true;
}

}  // namespace

Tensor index(const Tensor& self, TensorList indices) {
  if (!self.is_meta() && only_mask(self, indices) == 0 && indices[0].dim() == self.dim())
    return masked_select(self, indices[0]);
  const Plan plan = make_plan(self, indices);
  Tensor out = empty_strided_tensor(plan.result, plan.strides, self.dtype(), self.device());
  if (out.is_meta() || out.numel() == 0) return out;
  Tensor flat = out.is_contiguous() ? out : empty_tensor(plan.result, self.dtype());
  const GatherRow row = gather_row(self.itemsize());
  const int64_t runs = runs_of(plan),
                grain = std::max<int64_t>(1, 16384 / int64_t(plan.after.size()));
  parallel_for(0, runs, grain, [&](int64_t b, int64_t e) {
    for_runs(plan, b, e, [&](int64_t from, RowPlaces places, int64_t to, int64_t n) {
      row(address(flat, to), 1, address(self, from), places, n);
    });
  });
  if (!flat.is_same(out)) copy_into(out, flat);
  return out;
}

namespace {

bool can_expand(IntRef from, IntRef to) {
  if (from.size() > to.size()) return false;
  for (size_t k = 1; k <= from.size(); ++k)
    if (from[from.size() - k] != 1 && from[from.size() - k] != to[to.size() - k]) return false;
  return true;
}

}  // namespace

void _index_put_impl_(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate,
                      bool) {
  if (!self.is_meta() && self.dim() > 0 && has_internal_overlap(self))
    warn("Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before "
         "performing this operation. This also applies to advanced indexing e.g. tensor[indices] "
         "= tensor");
  if (!accumulate && fill_by_mask(self, indices, values)) return;
  const Plan plan = make_plan(self, indices);
  check(values.dtype() == self.dtype(),
        "Index put requires the source and destination dtypes match, "
        "got ",
        self.dtype(), " for the destination and ", values.dtype(), " for the source.");
  check(can_expand(values.sizes(), plan.result), "shape mismatch: value tensor of shape ",
        values.sizes(), " cannot be broadcast to indexing result of shape ", plan.result);
  if (self.is_meta() || numel_of(plan.result) == 0) return;
  check_implemented(!values.is_meta(), "Cannot copy out of meta tensor; no data!");
  const bool one = values.numel() == 1;
  const bool shared = values.storage() == self.storage();
  const Tensor from = one ? values : contiguous(expand(values, plan.result));
  const Tensor safe = shared && from.is_same(values) ? row_major_clone(from) : from;
  const CombineRow row = combine_row(accumulate ? Combine::Add : Combine::Assign, self.dtype(),
                                     "index_put");
  const int64_t runs = runs_of(plan), before = int64_t(plan.before.size());
  auto work = [&](int64_t b, int64_t e) {
    for_runs(plan, b, e, [&](int64_t to, RowPlaces places, int64_t at, int64_t n) {
      row(address(self, to), places, address(safe, one ? 0 : at), one ? 0 : 1, n);
    });
  };
  // Equal places meet only inside one `before`, whose writes stay in order.
  const int64_t each = int64_t(plan.at.size() * plan.after.size());
  if (before == 1) return work(0, runs);
  parallel_for(0, before, std::max<int64_t>(1, 16384 / each), [&](int64_t b, int64_t e) {
    work(b * int64_t(plan.at.size()), e * int64_t(plan.at.size()));
  });
}

void index_put_(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  _index_put_impl_(self, indices, values, accumulate, false);
}

Tensor index_put(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate) {
  Tensor out = preserving_clone(self);
  _index_put_impl_(out, indices, values, accumulate, false);
  return out;
}

}  // namespace rl::native
