// TensorIter: the geometry of an element-wise loop over several operands. It broadcasts, orders the
// dimensions from fastest to slowest, allocates missing outputs in the inputs' memory order,
// resizes `out=` tensors, merges dimensions, and runs inner loops that know only contiguous
// operands of their own dtype: everything else passes through tiles of 4 kB (gathered, converted,
// computed, converted back, scattered).
#pragma once
#include "core/tensor.h"

namespace rl {

// Computes n elements. `ptrs` are contiguous: the outputs, then the inputs.
using InnerLoop = void (*)(void* const* ptrs, int64_t n, const Scalar* attrs);

class TensorIter {
 public:
  static constexpr int kMaxOperands = 9;
  using Strides = SmallVec<int64_t, 6>;  // in bytes

  struct Operand {
    Tensor tensor;         // undefined: an output still to be allocated
    DType dtype = DType::Undefined;       // of the memory
    DType loop_dtype = DType::Undefined;  // of the tiles that the inner loop sees
    bool output = false;
    bool is_input_too = false;  // in-place
    bool will_resize = false;
    Strides strides;
    char* data = nullptr;
  };

  // Outputs first. `t` may be undefined (then `dtype` is what will be allocated).
  void add_output(const Tensor& t, DType dtype);
  void add_input(const Tensor& t);
  // Shape, order, allocation, merging. Afterwards operands know `data` and `strides`.
  void build();
  // The parts of build() that do not look at dtypes, for callers that must decide dtypes between.
  void infer_shape();   // overlap checks, broadcast, in-place shape check
  void allocate();      // resizes or allocates the outputs, then orders and merges dimensions

  // For plain copies: one output, one input broadcast to `shape`; no checks, nothing allocated.
  void allocate_for_copy(IntRef shape);

  int num_operands() const { return count_; }
  Operand& operand(int i) { return operands_[i]; }
  const Operand& operand(int i) const { return operands_[i]; }
  const Dims& shape() const { return shape_; }
  // Of the loop, fastest first, merged; operand strides go with it.
  const SmallVec<int64_t, 6>& loop_sizes() const { return sizes_; }
  int64_t numel() const { return numel_; }
  Device device() const { return device_; }

  // Runs `loop` over all elements; `cost` is the work of an element in simple operations and
  // decides how many elements are worth a thread.
  void run(InnerLoop loop, const Scalar* attrs, float cost) const;

 private:
  void check_devices();
  void check_overlap() const;
  void order_dims();
  void merge_dims();
  bool same_layout_outputs();
  void spread_strides();
  void find_data();
  void ordered_outputs();
  void place_output(Operand& op, IntRef strides);

  Operand operands_[kMaxOperands];
  int count_ = 0, outputs_ = 0;
  Dims shape_;                    // of the result, in the usual order
  SmallVec<int64_t, 6> sizes_;    // of the loop, fastest first, merged
  SmallVec<int64_t, 6> perm_;     // loop dimension -> result dimension
  int64_t numel_ = 0;
  Device device_;
  friend class TileRunner;
};

// Elements worth a thread for work of `cost` simple operations an element.
inline int64_t grain_of(float cost) {
  const int64_t grain = int64_t(32768.0f / (cost > 0.25f ? cost : 0.25f));
  return grain < 256 ? 256 : grain;
}

// Resizes an `out=` tensor to `sizes`, with the warning if it had elements. True if it changed.
bool resize_output(const Tensor& out, IntRef sizes);
// Throws if `result` cannot be stored into an output of dtype `out`.
void check_output_dtype(DType result, DType out);

}  // namespace rl
