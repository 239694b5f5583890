// What gradient formulas work with: lists of gradients, and the facts of a tensor whose values
// they do not need.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace rl {

using Grads = std::vector<Tensor>;  // gradients of several tensors; undefined = zero

// The facts of a tensor that a formula mentions as `self.sizes()`, without keeping its memory.
struct TensorInfo {
  Dims sizes_, strides_;
  DType dtype_ = DType::Undefined;
  Device device_;
  bool defined_ = false;
  Layout layout_ = Layout::Strided;

  bool defined() const { return defined_; }
  IntRef sizes() const { return sizes_; }
  IntRef strides() const { return strides_; }
  int64_t size(int64_t d) const { return sizes_.empty() ? 1 : sizes_[size_t(wrap_dim(d, dim()))]; }
  int64_t dim() const { return int64_t(sizes_.size()); }
  int64_t numel() const { return numel_of(sizes_); }
  DType dtype() const { return dtype_; }
  Device device() const { return device_; }
  Layout layout() const { return layout_; }
  bool is_complex() const { return rl::is_complex(dtype_); }
  const TensorInfo& info() const { return *this; }
  Options options() const { return {dtype_, device_}; }
};
inline TensorInfo tensor_info(const Tensor& t) {
  if (!t.defined()) return {};
  return {t->sizes, t->strides, t.dtype(), t.device(), true, t.layout()};
}
inline std::vector<TensorInfo> tensor_info(TensorList l) {
  std::vector<TensorInfo> out;
  for (const Tensor& t : l) out.push_back(tensor_info(t));
  return out;
}

}  // namespace rl
