// Sparse tensors: an impl without memory of its own, made of index and value tensors. COO keeps
// (sparse_dim, nnz) coordinates; compressed layouts (CSR, CSC, BSR, BSC) keep pointers into the
// plain indices. What operators do with them is in ops/sparse.
#pragma once
#include "core/tensor.h"

namespace rl {

struct SparseImpl final : TensorImpl {
  SparseImpl(Layout layout, DType dtype, Device device);
  Layout layout;
  int64_t sparse_dim = 0, dense_dim = 0;
  bool coalesced = false;   // COO: sorted, without repetition
  Tensor indices;           // COO: int64 (sparse_dim, nnz)
  Tensor compressed, plain; // compressed layouts: batch + (n + 1), batch + (nnz)
  Tensor values;            // COO: (nnz, dense...); compressed: batch + (nnz, [block], dense...)

  int64_t nnz() const;
  int64_t batch_dim() const { return int64_t(sizes.size()) - sparse_dim - dense_dim; }
  void set_sizes(IntRef s);
};

inline bool is_compressed(Layout l) {
  return l == Layout::SparseCsr || l == Layout::SparseCsc || l == Layout::SparseBsr ||
         l == Layout::SparseBsc;
}
inline bool is_block(Layout l) { return l == Layout::SparseBsr || l == Layout::SparseBsc; }
// The pointers run over rows (CSR, BSR) rather than columns.
inline bool is_row_major(Layout l) { return l == Layout::SparseCsr || l == Layout::SparseBsr; }
inline bool is_sparse_kind(const Tensor& t) {
  return t->kind == ImplKind::Sparse || t->kind == ImplKind::SparseCsr;
}

SparseImpl& sparse_impl(const Tensor& t);  // t must be sparse
// Parts are taken as they are: no checks.
Tensor make_coo(const Tensor& indices, const Tensor& values, IntRef sizes, bool coalesced);
Tensor make_compressed(Layout layout, const Tensor& compressed, const Tensor& plain,
                       const Tensor& values, IntRef sizes);
Tensor sparse_alias(const Tensor& t);      // another impl of the same parts
void sparse_assign(const Tensor& to, const Tensor& from);  // `to` becomes `from`'s parts and sizes

}  // namespace rl
