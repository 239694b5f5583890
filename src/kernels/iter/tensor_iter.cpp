// Geometry of TensorIter (see tensor_iter.h). The loops over tiles are in run_tiles.cpp.
#include "kernels/iter/tensor_iter.h"

#include "base/warn.h"

namespace rl {

bool resize_output(const Tensor& out, IntRef sizes) {
  if (out.sizes() == sizes) return false;
  if (out.numel() != 0) {
    warn("An output with one or more elements was resized since it had shape ", out.sizes(),
         ", which does not match the required output shape ", sizes,
         ". This behavior is deprecated, and in a future PyTorch release outputs will not be "
         "resized unless they have zero elements. You can explicitly reuse an out tensor t by "
         "resizing it, inplace, to zero elements with t.resize_(0).");
  }
  resize_impl(out, sizes);
  return true;
}

void check_output_dtype(DType result, DType out) {
  check(can_cast(result, out), "result type ", result,
        " can't be cast to the desired output type ", out);
}

void TensorIter::add_output(const Tensor& t, DType dtype) {
  Operand& op = operands_[count_++];
  op.tensor = t;
  op.dtype = t.defined() ? t.dtype() : dtype;
  op.loop_dtype = dtype;
  op.output = true;
  ++outputs_;
}

void TensorIter::add_input(const Tensor& t) {
  Operand& op = operands_[count_++];
  op.tensor = t;
  op.dtype = op.loop_dtype = t.dtype();
}

void TensorIter::build() {
  infer_shape();
  allocate();
}

// The first operand that is not a 0-dim CPU tensor names the device; meta accepts any other.
void TensorIter::check_devices() {
  bool found = false;
  for (int i = outputs_; i < count_ && !found; ++i) {
    const Tensor& t = operands_[i].tensor;
    if (t.dim() == 0 && t.device().is_cpu()) continue;
    device_ = t.device();
    found = true;
  }
  if (!found) device_ = operands_[outputs_].tensor.device();
  for (int i = 0; i < outputs_; ++i) {
    const Tensor& t = operands_[i].tensor;
    if (t.defined() && t.is_meta()) device_ = t.device();
  }
  if (device_.is_meta()) return;
  for (int i = outputs_; i < count_; ++i) {
    const Tensor& t = operands_[i].tensor;
    if (!(t.device() == device_))
      fail("Tensor on device ", t.device(), " is not on the expected device ", device_, "!");
  }
}

void TensorIter::check_overlap() const {
  for (int i = 0; i < outputs_; ++i) {
    const Tensor& out = operands_[i].tensor;
    if (!out.defined() || out.is_meta()) continue;
    check_no_internal_overlap(out);
    for (int j = outputs_; j < count_; ++j) {
      const Tensor& in = operands_[j].tensor;
      if (!in.is_same(out) && in.storage() == out.storage()) check_no_partial_overlap(out, in);
    }
  }
}

void TensorIter::infer_shape() {
  for (int i = 0; i < count_; ++i) {
    Operand& op = operands_[i];
    if (!op.tensor.defined()) continue;
    check_implemented(op.tensor->kind == ImplKind::Strided,
                      "element-wise operations on tensors of layout ",
                      layout_name(op.tensor.layout()));
    for (int j = outputs_; op.output && j < count_; ++j)
      op.is_input_too |= operands_[j].tensor.is_same(op.tensor);
  }
  check_overlap();
  check_devices();
  for (int i = outputs_; i < count_; ++i) {
    IntRef sizes = operands_[i].tensor.sizes();
    if (i == outputs_) {
      shape_ = sizes;
    } else if (!(IntRef(shape_) == sizes)) {
      shape_ = broadcast_shapes(shape_, sizes);
    }
  }
  numel_ = 1;
  for (int64_t s : shape_) numel_ *= s;
  for (int i = 0; i < outputs_; ++i) {
    Operand& op = operands_[i];
    if (!op.tensor.defined() || op.tensor.sizes() == IntRef(shape_)) continue;
    check(!op.is_input_too, "output with shape ", op.tensor.sizes(),
          " doesn't match the broadcast shape ", shape_);
    op.will_resize = true;
  }
}

namespace {

// Strides of dimensions that are never stepped along may be huge: no overflow of signed numbers.
int64_t in_bytes(int64_t stride, DType dtype) {
  return int64_t(uint64_t(stride) * uint64_t(itemsize(dtype)));
}

bool same_strides(const Tensor& a, const Tensor& b) { return a.strides() == b.strides(); }

}  // namespace

void TensorIter::place_output(Operand& op, IntRef strides) {
  if (!op.tensor.defined()) {
    op.tensor = empty_strided_tensor(shape_, strides, op.dtype, device_);
  } else if (op.will_resize && resize_output(op.tensor, shape_)) {
    op.tensor->strides = strides;
    op.tensor->refresh();
  }
}

// Operands of one shape and one layout hand that layout to the outputs: row-major first, then
// channels-last (of four dimensions), then any dense order that all share, strides and all.
bool TensorIter::same_layout_outputs() {
  bool contiguous = true, channels = shape_.size() == 4;
  bool same = true;
  const Tensor* first = nullptr;
  for (int i = 0; i < count_; ++i) {
    const Operand& op = operands_[i];
    if (!op.tensor.defined() || op.will_resize) continue;
    const Tensor& t = op.tensor;
    if (!(t.sizes() == IntRef(shape_))) return false;
    contiguous = contiguous && t.is_contiguous();
    channels = channels && t.is_contiguous(MemoryFormat::ChannelsLast);
    if (!first) first = &t;
    same = same && same_strides(*first, t);
  }
  Dims strides;
  if (contiguous) {
    strides = contiguous_strides(shape_);
  } else if (channels) {
    strides = channels_last_strides(shape_);
  } else if (same && is_non_overlapping_and_dense(shape_, first->strides())) {
    strides = first->strides();
  } else {
    return false;
  }
  for (int i = 0; i < outputs_; ++i) place_output(operands_[i], strides);
  // One run over the memory, in memory order.
  sizes_.assign(&numel_, 1);
  for (int i = 0; i < count_; ++i) {
    Operand& op = operands_[i];
    const int64_t item = itemsize(op.dtype);
    op.strides.assign(&item, 1);
  }
  return true;
}

namespace {

// Does loop dimension `faster` rightly come before `slower`? -1 yes, +1 no, 0 nobody says.
// The first operand with something to say decides; broadcast dimensions (stride 0) say nothing.
int compare_dims(const TensorIter& it, int count, size_t faster, size_t slower) {
  for (int i = 0; i < count; ++i) {
    const TensorIter::Operand& op = it.operand(i);
    if (op.strides.empty() || op.will_resize) continue;
    const int64_t a = op.strides[faster], b = op.strides[slower];
    if (a == 0 || b == 0) continue;
    if (a != b) return a < b ? -1 : 1;
    if (it.shape()[faster] > it.shape()[slower]) return 1;
  }
  return 0;
}

}  // namespace

void TensorIter::order_dims() {
  const int n = int(shape_.size());
  perm_.resize(size_t(n));
  for (int i = 0; i < n; ++i) perm_[size_t(i)] = n - 1 - i;
  // Insertion sort: the relation is not transitive where strides are silent, so the order of
  // comparisons matters; a pair that says nothing is stepped over.
  for (int i = 1; i < n; ++i) {
    int at = i;
    for (int j = i - 1; j >= 0; --j) {
      const int verdict =
          compare_dims(*this, count_, size_t(perm_[size_t(j)]), size_t(perm_[size_t(at)]));
      if (verdict < 0) break;
      if (verdict > 0) {
        std::swap(perm_[size_t(j)], perm_[size_t(at)]);
        at = j;
      }
    }
  }
}

void TensorIter::ordered_outputs() {
  const size_t n = shape_.size();
  bool usual = true;
  for (size_t i = 0; i < n; ++i) usual = usual && perm_[i] == int64_t(n - 1 - i);
  Dims strides = contiguous_strides(shape_);
  if (!usual) {
    int64_t step = 1;
    for (size_t i = 0; i < n; ++i) {
      strides[size_t(perm_[i])] = step;
      step *= shape_[size_t(perm_[i])];
    }
  }
  for (int i = 0; i < outputs_; ++i) {
    Operand& op = operands_[i];
    const bool fresh = !op.tensor.defined() || op.will_resize;
    place_output(op, strides);
    if (fresh) op.strides = TensorIter::Strides(op.tensor.strides());
    if (fresh)
      for (size_t d = 0; d < n; ++d) op.strides[d] = in_bytes(op.strides[d], op.dtype);
  }
}

// Joins neighbouring loop dimensions that every operand crosses in one stride.
void TensorIter::merge_dims() {
  const size_t n = perm_.size();
  Strides by_dim[kMaxOperands];
  for (int i = 0; i < count_; ++i) {
    by_dim[i] = operands_[i].strides;
    operands_[i].strides.clear();
  }
  sizes_.clear();
  for (size_t d = 0; d < n; ++d) {
    const size_t at = size_t(perm_[d]);
    const int64_t size = shape_[at];
    if (size == 1) continue;
    bool joins = !sizes_.empty();
    for (int i = 0; joins && i < count_; ++i)
      joins = operands_[i].strides.back() * sizes_.back() == by_dim[i][at];
    if (joins) {
      sizes_.back() *= size;
      continue;
    }
    sizes_.push_back(size);
    for (int i = 0; i < count_; ++i) operands_[i].strides.push_back(by_dim[i][at]);
  }
  if (sizes_.empty()) {
    sizes_.push_back(1);
    for (int i = 0; i < count_; ++i) operands_[i].strides.push_back(itemsize(operands_[i].dtype));
  }
}

// Byte strides of the known operands over the result's dimensions.
void TensorIter::spread_strides() {
  const size_t n = shape_.size();
  for (int i = 0; i < count_; ++i) {
    Operand& op = operands_[i];
    if (!op.tensor.defined() || op.will_resize) continue;
    IntRef sizes = op.tensor.sizes(), strides = op.tensor.strides();
    op.strides.resize(n);
    const size_t skip = n - sizes.size();
    for (size_t d = 0; d < n; ++d) {
      const bool moves = d >= skip && !(sizes[d - skip] == 1 && shape_[d] != 1);
      op.strides[d] = moves ? in_bytes(strides[d - skip], op.dtype) : 0;
    }
  }
}

void TensorIter::find_data() {
  for (int i = 0; i < count_; ++i)
    operands_[i].data = static_cast<char*>(operands_[i].tensor.data());
}

void TensorIter::allocate_for_copy(IntRef shape) {
  shape_ = shape;
  numel_ = numel_of(shape);
  spread_strides();
  order_dims();
  merge_dims();
  find_data();
}

void TensorIter::allocate() {
  if (!same_layout_outputs()) {
    spread_strides();
    order_dims();
    ordered_outputs();
    merge_dims();
  }
  if (!device_.is_meta()) find_data();
}

}  // namespace rl
