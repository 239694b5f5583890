// Running an inner loop over a TensorIter: whole rows where every operand is contiguous and of the
// loop's dtype, tiles in first-level cache where some operand is not.
#include <cstring>

#include "base/parallel.h"
#include "kernels/cpu/tiles.h"
#include "kernels/iter/tensor_iter.h"

namespace rl {

constexpr int64_t kTileBytes = 4096;
// Rows shorter than this are not worth running one by one; tiles are gathered across rows.
constexpr int64_t kShortRow = 64;

// One thread's work on a range of elements, counted in loop order.
class TileRunner {
 public:
  TileRunner(const TensorIter& it, InnerLoop loop, const Scalar* attrs)
      : it_(it), loop_(loop), attrs_(attrs), n_ops_(it.count_) {
    int64_t widest = 1;
    for (int i = 0; i < n_ops_; ++i) {
      const TensorIter::Operand& op = it.operands_[i];
      item_[i] = itemsize(op.dtype);
      loop_item_[i] = itemsize(op.loop_dtype);
      widest = std::max({widest, item_[i], loop_item_[i]});
    }
    tile_ = kTileBytes / widest;
  }

  void run(int64_t begin, int64_t end) {
    const int64_t row = it_.sizes_[0];
    if (it_.sizes_.size() == 1) {
      char* at[TensorIter::kMaxOperands];
      for (int i = 0; i < n_ops_; ++i)
        at[i] = it_.operands_[i].data + begin * it_.operands_[i].strides[0];
      run_row(at, end - begin);
    } else if (row >= kShortRow) {
      run_rows(begin, end);
    } else {
      run_gathered(begin, end);
    }
  }

 private:
  enum Access : uint8_t { Direct, Convert, Constant, Strided };

  Access access(int i) const {
    const TensorIter::Operand& op = it_.operands_[i];
    const int64_t stride = op.strides[0];
    if (stride == 0 && !op.output) return Constant;
    if (stride != item_[i]) return Strided;
    return op.dtype == op.loop_dtype ? Direct : Convert;
  }

  void run_rows(int64_t begin, int64_t end) {
    const int64_t row = it_.sizes_[0];
    char* at[TensorIter::kMaxOperands];
    for (int64_t pos = begin; pos < end;) {
      const int64_t column = pos % row;
      const int64_t count = std::min(row - column, end - pos);
      for (int i = 0; i < n_ops_; ++i) at[i] = it_.operands_[i].data + offset_of(i, pos);
      run_row(at, count);
      pos += count;
    }
  }

  int64_t offset_of(int i, int64_t pos) const {
    const TensorIter::Strides& strides = it_.operands_[i].strides;
    int64_t offset = 0;
    for (size_t d = 0; d < strides.size(); ++d) {
      const int64_t size = it_.sizes_[d];
      offset += pos % size * strides[d];
      pos /= size;
    }
    return offset;
  }

  // n elements along dimension 0 from the addresses `at`.
  void run_row(char* const* at, int64_t n) {
    Access how[TensorIter::kMaxOperands];
    bool all_direct = true;
    for (int i = 0; i < n_ops_; ++i) {
      how[i] = access(i);
      all_direct = all_direct && how[i] == Direct;
    }
    void* ptrs[TensorIter::kMaxOperands];
    if (all_direct) {
      for (int i = 0; i < n_ops_; ++i) ptrs[i] = at[i];
      return loop_(ptrs, n, attrs_);
    }
    for (int i = 0; i < n_ops_; ++i)
      if (how[i] == Constant) fill(i, at[i], std::min(n, tile_));
    for (int64_t pos = 0; pos < n; pos += tile_) {
      const int64_t m = std::min(tile_, n - pos);
      for (int i = 0; i < n_ops_; ++i) ptrs[i] = row_tile(i, how[i], at[i], pos, m);
      loop_(ptrs, m, attrs_);
      for (int i = 0; i < it_.outputs_; ++i) put_row_tile(i, how[i], at[i], pos, m);
    }
  }

  void fill(int i, const char* value, int64_t n) {
    const TensorIter::Operand& op = it_.operands_[i];
    alignas(16) char one[16];
    cpu::convert(one, op.loop_dtype, value, op.dtype, 1);
    cpu::fill_run(computed_[i], one, int(loop_item_[i]), n);
  }

  void* row_tile(int i, Access how, char* at, int64_t pos, int64_t m) {
    const TensorIter::Operand& op = it_.operands_[i];
    if (how == Direct) return at + pos * item_[i];
    if (op.output || how == Constant) return computed_[i];
    const void* from = at + pos * item_[i];
    if (how == Strided) {
      const cpu::Walk walk{it_.sizes_.data(), op.strides.data(), 1};
      cpu::gather(raw_[i], at + pos * op.strides[0], int(item_[i]), walk, 0, m);
      if (op.dtype == op.loop_dtype) return raw_[i];
      from = raw_[i];
    }
    cpu::convert(computed_[i], op.loop_dtype, from, op.dtype, m);
    return computed_[i];
  }

  void put_row_tile(int i, Access how, char* at, int64_t pos, int64_t m) {
    const TensorIter::Operand& op = it_.operands_[i];
    if (how == Direct) return;
    if (how == Convert) {
      cpu::convert(at + pos * item_[i], op.dtype, computed_[i], op.loop_dtype, m);
      return;
    }
    const void* from = computed_[i];
    if (op.dtype != op.loop_dtype) {
      cpu::convert(raw_[i], op.dtype, from, op.loop_dtype, m);
      from = raw_[i];
    }
    const cpu::Walk walk{it_.sizes_.data(), op.strides.data(), 1};
    cpu::scatter(at + pos * op.strides[0], from, int(item_[i]), walk, 0, m);
  }

  // Tiles that span several short rows.
  void run_gathered(int64_t begin, int64_t end) {
    void* ptrs[TensorIter::kMaxOperands];
    for (int64_t pos = begin; pos < end; pos += tile_) {
      const int64_t m = std::min(tile_, end - pos);
      for (int i = 0; i < n_ops_; ++i) ptrs[i] = gathered_tile(i, pos, m);
      loop_(ptrs, m, attrs_);
      for (int i = 0; i < it_.outputs_; ++i) scatter_tile(i, pos, m);
    }
  }

  cpu::Walk walk_of(int i) const {
    const TensorIter::Strides& s = it_.operands_[i].strides;
    return {it_.sizes_.data(), s.data(), int(s.size())};
  }

  void* gathered_tile(int i, int64_t pos, int64_t m) {
    const TensorIter::Operand& op = it_.operands_[i];
    if (op.output) return computed_[i];
    cpu::gather(raw_[i], op.data, int(item_[i]), walk_of(i), pos, m);
    if (op.dtype == op.loop_dtype) return raw_[i];
    cpu::convert(computed_[i], op.loop_dtype, raw_[i], op.dtype, m);
    return computed_[i];
  }

  void scatter_tile(int i, int64_t pos, int64_t m) {
    const TensorIter::Operand& op = it_.operands_[i];
    const void* from = computed_[i];
    if (op.dtype != op.loop_dtype) {
      cpu::convert(raw_[i], op.dtype, from, op.loop_dtype, m);
      from = raw_[i];
    }
    cpu::scatter(op.data, from, int(item_[i]), walk_of(i), pos, m);
  }

  const TensorIter& it_;
  InnerLoop loop_;
  const Scalar* attrs_;
  int n_ops_;
  int64_t tile_;
  int64_t item_[TensorIter::kMaxOperands], loop_item_[TensorIter::kMaxOperands];
  alignas(64) char raw_[TensorIter::kMaxOperands][kTileBytes];
  alignas(64) char computed_[TensorIter::kMaxOperands][kTileBytes];
};

void TensorIter::run(InnerLoop loop, const Scalar* attrs, float cost) const {
  if (numel_ == 0 || device_.is_meta()) return;
  parallel_for(0, numel_, grain_of(cost), [&](int64_t begin, int64_t end) {
    TileRunner(*this, loop, attrs).run(begin, end);
  });
}

}  // namespace rl
