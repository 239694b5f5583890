// Geometry and partition of reductions (see reduce.h).
#include "kernels/iter/reduce.h"

#include <algorithm>
#include <memory>

#include "base/parallel.h"
#include "kernels/cpu/tiles.h"

namespace rl {
namespace {

using cpu::kReduceChunk;

struct LoopDim {
  int64_t size, stride, out_stride;  // in elements
};
using LoopDims = SmallVec<LoopDim, 6>;

// Broadcast dimensions (stride 0) go last.
int64_t order_key(const LoopDim& d) { return d.stride == 0 ? INT64_MAX : d.stride; }

void sort_and_merge(LoopDims& dims) {
  std::stable_sort(dims.begin(), dims.end(), [](const LoopDim& a, const LoopDim& b) {
    return order_key(a) < order_key(b);
  });
  size_t kept = 0;
  for (size_t i = 1; i < dims.size(); ++i) {
    LoopDim& a = dims[kept];
    const LoopDim& b = dims[i];
    if (b.stride == a.stride * a.size && b.out_stride == a.out_stride * a.size) a.size *= b.size;
    else dims[++kept] = b;
  }
  if (!dims.empty()) dims.resize(kept + 1);
}

int64_t product(const LoopDims& dims, size_t from = 0) {
  int64_t n = 1;
  for (size_t i = from; i < dims.size(); ++i) n *= dims[i].size;
  return n;
}

int64_t offset_at(const LoopDims& dims, int64_t index, size_t from = 0) {
  int64_t offset = 0;
  for (size_t i = from; i < dims.size(); ++i) {
    offset += index % dims[i].size * dims[i].stride;
    index /= dims[i].size;
  }
  return offset;
}

class Reducer {
 public:
  Reducer(const Reduction& r, const Tensor& self, uint64_t dims, const Tensor& out,
          const Tensor* second)
      : attrs_(r.attrs), in_dtype_(self.dtype()), compute_(r.compute), out_(&out), second_(second) {
    check_implemented(cpu::reduce_kernel(r.op, r.compute, &kernel_), "a reduction of ", r.compute);
    result_ = reduction_result(r);
    meta_ = self.is_meta();
    data_ = meta_ ? nullptr : static_cast<const char*>(self.data());
    int64_t out_step = 1;
    for (int64_t d = self.dim(); d-- > 0;) {
      const int64_t size = self.sizes()[size_t(d)], stride = self.strides()[size_t(d)];
      if (dims >> d & 1) {
        count_ *= size;
        if (size != 1) reduced_.push_back({size, stride, 0});
      } else {
        outputs_ *= size;
        if (size != 1) kept_.push_back({size, stride, out_step});
        out_step *= size;
      }
    }
    attrs_.count = double(count_);
    sort_and_merge(kept_);
    sort_and_merge(reduced_);
    if (kept_.empty()) kept_.push_back({1, 0, 1});
    if (reduced_.empty()) reduced_.push_back({1, 0, 0});
    rows_ = order_key(reduced_[0]) <= order_key(kept_[0]) && count_ > 1;
    second_dtype_ = second ? (r.op == cpu::ReduceOp::Var ? compute_ : r.compute) : result_;
    arg_ = r.op == cpu::ReduceOp::ArgMax || r.op == cpu::ReduceOp::ArgMin;
  }

  void run();

 private:
  const char* at(int64_t element) const { return data_ + element * itemsize(in_dtype_); }
  // Along the reduced dimensions work is counted in units: elements of the only dimension, whole
  // runs of the fastest one, or (folding columns) single rows.
  bool unit_is_element() const { return rows_ && reduced_.size() == 1; }
  int64_t units() const {
    if (count_ == 0) return 0;
    return unit_is_element() || !rows_ ? count_ : product(reduced_, 1);
  }
  int64_t block() const;
  int64_t pieces() const;
  void run_in_pieces(int64_t pieces);
  void run_by_outputs();
  void fold(int64_t o0, int64_t o1, int64_t u0, int64_t u1, char* states) const;
  void fold_rows(int64_t o0, int64_t o1, int64_t u0, int64_t u1, char* states) const;
  void fold_row_block(const char* x, int64_t rows, int64_t n, int64_t first, char* states) const;
  void fold_columns(int64_t o0, int64_t o1, int64_t u0, int64_t u1, char* states) const;
  void fold_column_block(const char* x, int64_t rows, int64_t columns, int64_t first,
                         char* states) const;
  void fold_narrow(const char* x, int64_t rows, int64_t columns, int64_t first,
                   char* states) const;
  void store(int64_t o0, int64_t o1, const char* states) const;
  void store_one(const Tensor& out, DType from, const char* values, int64_t o0, int64_t n) const;

  cpu::ReduceKernel kernel_;
  cpu::ReduceAttrs attrs_;
  DType in_dtype_, compute_, result_, second_dtype_;
  const char* data_;
  const Tensor* out_;
  const Tensor* second_;
  LoopDims kept_, reduced_;
  int64_t outputs_ = 1, count_ = 1;
  bool rows_ = false, arg_ = false, meta_ = false;
};

// ---- folding ----------------------------------------------------------------------------------

void Reducer::fold(int64_t o0, int64_t o1, int64_t u0, int64_t u1, char* states) const {
  if (rows_) fold_rows(o0, o1, u0, u1, states);
  else fold_columns(o0, o1, u0, u1, states);
}

void Reducer::fold_rows(int64_t o0, int64_t o1, int64_t u0, int64_t u1, char* states) const {
  const int64_t line = kept_[0].size, run = reduced_[0].size;
  const bool by_element = unit_is_element();
  for (int64_t o = o0; o < o1;) {
    const int64_t rows = std::min(line - o % line, o1 - o);
    const int64_t base = offset_at(kept_, o);
    char* s = states + (o - o0) * kernel_.state_size;
    for (int64_t u = u0; u < u1;) {
      const int64_t outer = by_element ? 0 : offset_at(reduced_, u, 1);
      const int64_t from = by_element ? u0 : 0, to = by_element ? u1 : run;
      for (int64_t e = from; e < to; e += kReduceChunk) {
        const int64_t n = std::min(kReduceChunk, to - e);
        fold_row_block(at(base + outer + e * reduced_[0].stride), rows, n, e, s);
      }
      u = by_element ? u1 : u + 1;
    }
    o += rows;
  }
}

// Rows of n elements; gathered and converted in groups where they are not ready as they lie.
void Reducer::fold_row_block(const char* x, int64_t rows, int64_t n, int64_t first,
                             char* states) const {
  const int64_t stride = reduced_[0].stride, row_stride = kept_[0].stride;
  const bool direct = in_dtype_ == compute_ && (stride == 1 || n == 1);
  if (direct) return kernel_.rows(states, x, rows, row_stride, n, first, attrs_);
  alignas(64) char raw[kReduceChunk * 16], cooked[kReduceChunk * 16];
  const int64_t item = itemsize(in_dtype_), group = std::max<int64_t>(1, kReduceChunk / n);
  const int64_t sizes[] = {n, rows}, strides[] = {stride * item, row_stride * item};
  for (int64_t r = 0; r < rows; r += group) {
    const int64_t m = std::min(group, rows - r);
    const void* now = x + r * row_stride * item;
    if (!(stride == 1 && (m == 1 || row_stride == n))) {
      cpu::gather(raw, static_cast<const char*>(now), int(item), {sizes, strides, 2}, 0, m * n);
      now = raw;
    }
    if (in_dtype_ != compute_) {
      cpu::convert(cooked, compute_, now, in_dtype_, m * n);
      now = cooked;
    }
    kernel_.rows(states + r * kernel_.state_size, now, m, n, n, first, attrs_);
  }
}

void Reducer::fold_columns(int64_t o0, int64_t o1, int64_t u0, int64_t u1, char* states) const {
  const int64_t line = kept_[0].size, depth = reduced_[0].size;
  for (int64_t o = o0; o < o1;) {
    const int64_t columns = std::min(line - o % line, o1 - o);
    const int64_t base = offset_at(kept_, o);
    char* s = states + (o - o0) * kernel_.state_size;
    for (int64_t u = u0; u < u1;) {
      const int64_t rows = std::min(depth - u % depth, u1 - u);
      fold_column_block(at(base + offset_at(reduced_, u)), rows, columns, u, s);
      u += rows;
    }
    o += columns;
  }
}

void Reducer::fold_column_block(const char* x, int64_t rows, int64_t columns, int64_t first,
                                char* states) const {
  const int64_t stride = kept_[0].stride, row_stride = reduced_[0].stride;
  if (in_dtype_ == compute_ && (stride == 1 || columns == 1)) {
    if (columns < 64 && row_stride == columns && rows >= 1024 && !arg_)
      return fold_narrow(x, rows, columns, first, states);
    return kernel_.columns(states, x, rows, row_stride, columns, first, attrs_);
  }
  alignas(64) char raw[kReduceChunk * 16], cooked[kReduceChunk * 16];
  const int64_t item = itemsize(in_dtype_), strip = std::min<int64_t>(columns, 1024);
  const int64_t group = kReduceChunk / strip;
  for (int64_t c = 0; c < columns; c += strip) {
    const int64_t w = std::min(strip, columns - c);
    const int64_t sizes[] = {w, rows}, strides[] = {stride * item, row_stride * item};
    for (int64_t r = 0; r < rows; r += group) {
      const int64_t m = std::min(group, rows - r);
      const char* here = x + (c * stride + r * row_stride) * item;
      const void* now = here;
      if (!(stride == 1 && (m == 1 || row_stride == w))) {
        cpu::gather(raw, here, int(item), {sizes, strides, 2}, 0, m * w);
        now = raw;
      }
      if (in_dtype_ != compute_) {
        cpu::convert(cooked, compute_, now, in_dtype_, m * w);
        now = cooked;
      }
      kernel_.columns(states + c * kernel_.state_size, now, m, w, w, first + r, attrs_);
    }
  }
}

// Few packed columns: a row of many copies of them is as good to fold, and the copies are merged.
void Reducer::fold_narrow(const char* x, int64_t rows, int64_t columns, int64_t first,
                          char* states) const {
  const int64_t copies = 256 / columns, wide = copies * columns, deep = rows / copies;
  alignas(16) char partial[256 * cpu::kMaxReduceState];
  kernel_.init(partial, wide);
  kernel_.columns(partial, x, deep, wide, wide, first, attrs_);
  for (int64_t i = 0; i < copies; ++i)
    kernel_.merge(states, partial + i * columns * kernel_.state_size, columns);
  const int64_t done = deep * copies;
  kernel_.columns(states, x + done * columns * itemsize(compute_), rows - done, columns, columns,
                  first + done, attrs_);
}

// ---- results ----------------------------------------------------------------------------------

constexpr int64_t kStoreBlock = 512;

void Reducer::store(int64_t o0, int64_t o1, const char* states) const {
  alignas(64) char values[kStoreBlock * 16], extra[kStoreBlock * 16];
  for (int64_t o = o0; o < o1; o += kStoreBlock) {
    const int64_t n = std::min(kStoreBlock, o1 - o);
    kernel_.finish(states + (o - o0) * kernel_.state_size, n, values, second_ ? extra : nullptr,
                   attrs_);
    store_one(*out_, result_, values, o, n);
    if (second_) store_one(*second_, second_dtype_, extra, o, n);
  }
}

void Reducer::store_one(const Tensor& out, DType from, const char* values, int64_t o0,
                        int64_t n) const {
  const DType to = out.dtype();
  const int64_t item = itemsize(to);
  char* data = static_cast<char*>(out.data());
  if (kept_.size() == 1 && kept_[0].out_stride == 1)
    return cpu::convert(data + o0 * item, to, values, from, n);
  alignas(64) char cooked[kStoreBlock * 16];
  cpu::convert(cooked, to, values, from, n);
  SmallVec<int64_t, 6> sizes, strides;
  for (const LoopDim& d : kept_) {
    sizes.push_back(d.size);
    strides.push_back(d.out_stride * item);
  }
  cpu::scatter(data, cooked, int(item), {sizes.data(), strides.data(), int(sizes.size())}, o0, n);
}

// ---- partition --------------------------------------------------------------------------------

constexpr int64_t kPieceWork = 65536;  // elements
constexpr int64_t kMaxPieces = 32;
constexpr int64_t kBlock = 1024;       // most outputs whose states lie on the stack

// Outputs that are folded together.
int64_t Reducer::block() const {
  if (rows_) return std::clamp<int64_t>(16384 / std::max<int64_t>(count_, 1), 1, kBlock);
  const int64_t line = kept_[0].size, wide = outputs_ < 8192 ? 256 : kBlock;
  return line <= wide ? wide / line * line : wide;
}

// How many pieces the reduced dimensions are cut into, for few outputs of much work each.
int64_t Reducer::pieces() const {
  const int64_t work = outputs_ * count_, blocks = (outputs_ + block() - 1) / block();
  if (work < 2 * kPieceWork || blocks >= 8) return 1;
  const int64_t per_piece = unit_is_element() ? kReduceChunk : rows_ ? 1 : 512;
  return std::max<int64_t>(1, std::min({kMaxPieces, work / kPieceWork, units() / per_piece}));
}

void Reducer::run_in_pieces(int64_t pieces) {
  const int64_t all = units();
  int64_t step = (all + pieces - 1) / pieces;
  if (unit_is_element()) step = (step + kReduceChunk - 1) / kReduceChunk * kReduceChunk;
  pieces = (all + step - 1) / step;
  const int64_t bytes = outputs_ * kernel_.state_size;
  std::unique_ptr<char[]> states(new char[size_t(pieces * bytes)]);
  parallel_for(0, pieces, 1, [&](int64_t b, int64_t e) {
    for (int64_t p = b; p < e; ++p) {
      char* s = states.get() + p * bytes;
      kernel_.init(s, outputs_);
      fold(0, outputs_, p * step, std::min(all, (p + 1) * step), s);
    }
  });
  for (int64_t p = 1; p < pieces; ++p)
    kernel_.merge(states.get(), states.get() + p * bytes, outputs_);
  store(0, outputs_, states.get());
}

void Reducer::run_by_outputs() {
  const int64_t block = this->block(), all = units();
  const int64_t blocks = (outputs_ + block - 1) / block;
  const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, block * count_));
  parallel_for(0, blocks, grain, [&](int64_t b, int64_t e) {
    alignas(16) char states[kBlock * cpu::kMaxReduceState];
    for (int64_t i = b; i < e; ++i) {
      const int64_t o0 = i * block, o1 = std::min(outputs_, o0 + block);
      kernel_.init(states, o1 - o0);
      fold(o0, o1, 0, all, states);
      store(o0, o1, states);
    }
  });
}

void Reducer::run() {
  if (outputs_ == 0 || meta_) return;
  const int64_t p = pieces();
  if (p > 1) run_in_pieces(p);
  else run_by_outputs();
}

}  // namespace

DType reduction_result(const Reduction& r) {
  switch (r.op) {
    case cpu::ReduceOp::ArgMax: case cpu::ReduceOp::ArgMin: case cpu::ReduceOp::CountNonzero:
      return DType::Int64;
    default: return r.compute;
  }
}

void run_reduction(Reduction r, const Tensor& self, uint64_t dims, const Tensor& out,
                   const Tensor* second) {
  Reducer(r, self, dims, out, second).run();
}

}  // namespace rl
