// Making sparse tensors from their parts.
#include "core/sparse.h"

namespace rl {

SparseImpl::SparseImpl(Layout layout, DType dtype, Device device)
    : TensorImpl(StoragePtr(), dtype, device), layout(layout) {
  kind = layout == Layout::Sparse ? ImplKind::Sparse : ImplKind::SparseCsr;
  inference = tls.inference_mode;
}

int64_t SparseImpl::nnz() const {
  return layout == Layout::Sparse ? indices.size(1) : plain.size(-1);
}

// Strides are zeros, so that geometry never reads past their end; the number of elements stops at
// the largest one there is.
void SparseImpl::set_sizes(IntRef s) {
  sizes = s;
  strides.resize(s.size());
  int64_t count = 1;
  for (size_t i = 0; i < s.size(); ++i) {
    strides[i] = 0;
    if (__builtin_mul_overflow(count, s[i], &count)) count = INT64_MAX;
  }
  numel = count;
  contiguous = false;
}

SparseImpl& sparse_impl(const Tensor& t) {
  check(is_sparse_kind(t), "expected a sparse tensor, but got layout ", layout_name(t.layout()));
  return *static_cast<SparseImpl*>(t.impl());
}

Tensor make_coo(const Tensor& indices, const Tensor& values, IntRef sizes, bool coalesced) {
  auto* impl = new SparseImpl(Layout::Sparse, values.dtype(), values.device());
  Tensor t(impl);
  impl->sparse_dim = indices.size(0);
  impl->dense_dim = values.dim() - 1;
  impl->indices = indices;
  impl->values = values;
  impl->coalesced = coalesced;
  impl->set_sizes(sizes);
  return t;
}

Tensor make_compressed(Layout layout, const Tensor& compressed, const Tensor& plain,
                       const Tensor& values, IntRef sizes) {
  auto* impl = new SparseImpl(layout, values.dtype(), values.device());
  Tensor t(impl);
  impl->sparse_dim = 2;
  impl->dense_dim = values.dim() - compressed.dim() - (is_block(layout) ? 2 : 0);
  impl->compressed = compressed;
  impl->plain = plain;
  impl->values = values;
  impl->set_sizes(sizes);
  return t;
}

Tensor sparse_alias(const Tensor& t) {
  auto* impl = new SparseImpl(sparse_impl(t).layout, t.dtype(), t.device());
  Tensor out(impl);
  sparse_assign(out, t);
  impl->inference = t->inference;
  share_version(t, out);
  return out;
}

void sparse_assign(const Tensor& to, const Tensor& from) {
  SparseImpl &a = sparse_impl(to), &b = sparse_impl(from);
  if (&a == &b) return;
  check(a.layout == b.layout, "a tensor of layout ", layout_name(a.layout),
        " cannot become one of layout ", layout_name(b.layout));
  a.sparse_dim = b.sparse_dim;
  a.dense_dim = b.dense_dim;
  a.coalesced = b.coalesced;
  a.indices = b.indices;
  a.compressed = b.compressed;
  a.plain = b.plain;
  a.values = b.values;
  a.set_sizes(b.sizes);
}

}  // namespace rl
