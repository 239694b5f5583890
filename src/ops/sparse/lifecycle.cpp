// Copies, conversions of dtype and layout, and empty tensors of sparse layouts.
#include "ops/native.h"
#include "ops/sparse/parts.h"

namespace rl::native {
Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, std::optional<IntRef> dim,
                          bool keepdim, std::optional<DType> dtype);
}

namespace rl::sparse {

Tensor clone(const Tensor& self, std::optional<MemoryFormat> format) {
  check(!format || *format == MemoryFormat::Preserve, "unsupported memory format option ",
        format == MemoryFormat::Contiguous ? "Contiguous" : "ChannelsLast");
  return clone_parts(self);
}

Tensor to_copy(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
               bool non_blocking, std::optional<MemoryFormat> format) {
  check_implemented(!device || device->is_cpu(), "sparse tensors are not implemented on ",
                    device.value_or(Device()));
  return to_dtype(clone_parts(self), dtype.value_or(self.dtype()));
}

void copy_from(const Tensor& self, const Tensor& src, bool non_blocking) {
  if (self.is_same(src)) return;
  if (self.is_sparse_csr() || src.is_sparse_csr()) {
    check(is_sparse_kind(self), "copy_sparse_compressed_ expected sparse compressed tensor layout "
          "but "
          "got ", short_layout(self));
    check(self.layout() == src.layout(), "torch.copy_: copy of sparse compressed tensors having "
          "different layouts is not supported. self layout is ", short_layout(self),
          " and src layout is ", short_layout(src));
    check(sparse_impl(self).nnz() == sparse_impl(src).nnz(), "torch.copy_: only sparse compressed "
          "tensors with the same number of specified elements are supported.");
    check(self.sizes() == src.sizes(), "torch.copy_: expected shapes of self and src to match, "
          "but ",
          self.sizes(), " != ", src.sizes());
    return sparse_assign(self, to_dtype(clone_parts(src), self.dtype()));
  }
  auto type_name = [](const Tensor& t) {
    return str("torch.", t.is_sparse() ? "sparse." : "", scalar_type_name(t.dtype()), "Tensor");
  };
  check(self.is_sparse() && src.is_sparse(), "copy_() between dense and sparse Tensors is not "
        "implemented! Found self type = ", type_name(self), " and src type = ", type_name(src));
  SparseImpl &to = sparse_impl(self), &from = sparse_impl(src);
  check(to.nnz() == 0 || to.sparse_dim == from.sparse_dim, "changing the number of sparse "
        "dimensions "
        "(from ", to.sparse_dim, " to ", from.sparse_dim, ") on a non-empty sparse tensor is not "
        "supported.");
  sparse_assign(self, to_dtype(clone_parts(src), self.dtype()));
}

void zero_(const Tensor& self) {
  const SparseImpl& s = sparse_impl(self);
  if (self.is_sparse())
    return sparse_assign(self, empty_coo(s.sizes, s.sparse_dim, self.dtype(), self.device()));
  Dims plain(s.plain.sizes()), values(s.values.sizes());
  plain[size_t(s.batch_dim())] = values[size_t(s.batch_dim())] = 0;
  sparse_assign(self, make_compressed(
      s.layout, zeros(s.compressed.sizes(), s.compressed.dtype(), self.device()),
      empty_tensor(plain, s.plain.dtype(), self.device()),
      empty_tensor(values, self.dtype(), self.device()), s.sizes));
}

void fill_(const Tensor& self, const Scalar& value) {
  check_implemented(self.is_sparse_csr(), "Could not run 'aten::fill_.Scalar' with arguments from "
                    "the 'SparseCPU' backend.");
  native::fill(sparse_impl(self).values, value);
}

static void check_like(const Tensor& self, std::optional<Device> device,
                       std::optional<MemoryFormat> format) {
  check_implemented(!device || device->is_cpu(), "sparse tensors are not implemented on ",
                    device.value_or(Device()));
  check(!format || *format == MemoryFormat::Preserve,
        "memory format option is only supported by strided tensors");
}

Tensor zeros_like(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
                  std::optional<MemoryFormat> format) {
  check_like(self, device, format);
  const Tensor out = to_dtype(sparse_alias(self), dtype.value_or(self.dtype()));
  const Tensor fresh = out.is_same(self) ? sparse_alias(self) : out;
  fresh->version.reset();
  zero_(fresh);
  return fresh;
}

Tensor empty_like(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
                  std::optional<MemoryFormat> format) {
  if (self.is_sparse()) return zeros_like(self, dtype, device, format);
  check_like(self, device, format);
  const Tensor c = clone_parts(self);
  return with_values(c, empty_tensor(sparse_impl(c).values.sizes(), dtype.value_or(self.dtype()),
                                     self.device()));
}

Tensor ones_like(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device,
                 std::optional<MemoryFormat> format) {
  check_implemented(self.is_sparse_csr(), "Could not run 'aten::fill_.Scalar' with arguments from "
                    "the 'SparseCPU' backend.");
  check_like(self, device, format);
  const Tensor c = clone_parts(self);
  return with_values(c, native::full(sparse_impl(c).values.sizes(), Scalar(1),
                                     dtype.value_or(self.dtype()), self.device()));
}

Tensor vector_norm(const Tensor& self, const Scalar& ord, std::optional<IntRef> dim, bool keepdim,
                   std::optional<DType> dtype) {
  check_implemented(self.is_sparse(), "Could not run 'aten::norm.out' with arguments from the "
                    "'SparseCsrCPU' backend.");
  check(!keepdim, "norm_sparse currently does not support keepdim=True");
  check(!dim || dim->empty() || int64_t(dim->size()) == self.dim(), "norm_sparse currently only "
        "supports full reductions, so 'dim' must either be empty or contain all dimensions of the "
        "input");
  return native::linalg_vector_norm(sparse_impl(coalesced(self)).values, ord, std::nullopt, false,
                                    dtype);
}

}  // namespace rl::sparse

namespace rl::native {

using namespace sparse;

namespace {

const char* layout_word(Layout l) {
  switch (l) {
    case Layout::Strided: return "Strided";
    case Layout::Sparse: return "Sparse";
    case Layout::SparseCsr: return "SparseCsr";
    case Layout::SparseCsc: return "SparseCsc";
    case Layout::SparseBsr: return "SparseBsr";
    case Layout::SparseBsc: return "SparseBsc";
    default: return "Mkldnn";
  }
}

const char* source_word(const Tensor& self) {
  if (self.is_sparse()) return "coo_to_sparse";
  return self.is_sparse_csr() ? "sparse_compressed_to_sparse" : "dense_to_sparse";
}

// The wanted layout with its block; the words of PyTorch where an argument does not belong to it.
Target target(const Tensor& self, Layout layout, std::optional<IntRef> blocksize,
              std::optional<int64_t> dense_dim) {
  Target to{layout};
  const bool block = is_block(layout), given = blocksize.has_value();
  check(block == given, source_word(self), ": conversion from ", short_layout(self), " to ",
        layout_word(layout), given ? " with" : " without", " blocksize argument given is not "
        "supported");
  if (given) {
    check(blocksize->size() == 2, source_word(self), ": blocksize needs to be a tuple of size 2, "
          "but "
          "got ", blocksize->size());
    to.rows = (*blocksize)[0];
    to.cols = (*blocksize)[1];
  }
  if (is_sparse_kind(self)) {
    to.dense_dim = sparse_impl(self).dense_dim;
    check(!dense_dim || *dense_dim == to.dense_dim, source_word(self), ": conversion from ",
          short_layout(self), " to ", layout_word(layout), " with dense_dim argument given is not "
          "supported");
  } else {
    const int64_t most = std::max<int64_t>(self.dim() - (layout == Layout::Sparse ? 1 : 2), 0);
    to.dense_dim = dense_dim.value_or(0);
    check(to.dense_dim >= 0 && to.dense_dim <= most, "dense_to_sparse: dense_dim argument must be "
          "in "
          "[0,", most, "] range, but ", to.dense_dim, " is given");
  }
  return to;
}

Tensor converted(const Tensor& self, const Target& to) {
  if (self.is_sparse_csr() && is_compressed(to.layout) && self.layout() != to.layout) {
    const bool from_block = is_block(self.layout()), to_block = is_block(to.layout);
    check(!from_block || to_block, "sparse_compressed_to_sparse_csr: expected SparseCsr or "
          "SparseCsc "
          "layout but got ", short_layout(self));
  }
  return to_layout(self, to);
}

}  // namespace

Tensor to_sparse_dim(const Tensor& self, int64_t sparse_dim) {
  if (self.is_sparse()) {
    check(sparse_dim == sparse_impl(self).sparse_dim, "to_sparse: conversion from Sparse to Sparse "
          "with sparse_dim argument !=self.sparse_dim() is not supported");
    return self;
  }
  if (self.is_sparse_csr()) {
    check(sparse_dim == 2, "sparse_compressed_to_sparse: conversion from ", short_layout(self),
          " to Sparse with sparse_dim argument !=2 is not supported");
    return compressed_to_coo(self);
  }
  return dense_to_coo(self, sparse_dim);
}

Tensor to_sparse(const Tensor& self, std::optional<Layout> layout, std::optional<IntRef> blocksize,
                 std::optional<int64_t> dense_dim) {
  const Layout l = layout.value_or(Layout::Sparse);
  if (l == Layout::Strided) return to_strided(self);
  return converted(self, target(self, l, blocksize, dense_dim));
}

static Tensor to_plain(const Tensor& self, Layout layout, std::optional<int64_t> dense_dim) {
  check_index(is_sparse_kind(self) || self.dim() >= 2, "select(): index 1 out of range for tensor "
              "of "
              "size [", self.numel(), ", ", self.dim(), "] at dimension 1");
  return converted(self, target(self, layout, std::nullopt, dense_dim));
}
Tensor to_sparse_csr(const Tensor& self, std::optional<int64_t> dense_dim) {
  return to_plain(self, Layout::SparseCsr, dense_dim);
}
Tensor to_sparse_csc(const Tensor& self, std::optional<int64_t> dense_dim) {
  return to_plain(self, Layout::SparseCsc, dense_dim);
}

static Tensor to_block(const Tensor& self, Layout layout, IntRef blocksize,
                       std::optional<int64_t> dense_dim) {
  const Target to = target(self, layout, blocksize, dense_dim);
  if (self.layout() == layout) {
    const Target own = target_of(self);
    check(own.rows == to.rows && own.cols == to.cols, "to_sparse_",
          layout == Layout::SparseBsr ? "bsr" : "bsc", ": conversion from ", short_layout(self),
          " to ", layout_word(layout), " with blocksize changed from [", own.rows, ", ", own.cols,
          "] to [", to.rows, ", ", to.cols, "] is not supported");
  }
  return converted(self, to);
}
Tensor to_sparse_bsr(const Tensor& self, IntRef blocksize, std::optional<int64_t> dense_dim) {
  return to_block(self, Layout::SparseBsr, blocksize, dense_dim);
}
Tensor to_sparse_bsc(const Tensor& self, IntRef blocksize, std::optional<int64_t> dense_dim) {
  return to_block(self, Layout::SparseBsc, blocksize, dense_dim);
}

Tensor _to_dense(const Tensor& self, std::optional<DType> dtype, std::optional<bool> masked_grad) {
  check(!dtype || !is_sparse_kind(self), "dtype argument is not supported by sparse_to_dense");
  return to_strided(self);
}

Tensor sparse_mask(const Tensor& self, const Tensor& mask) {
  check_implemented(is_sparse_kind(mask), "Could not run 'aten::sparse_mask' with arguments from "
                    "the "
                    "'CPU' backend: the mask must be sparse.");
  check(self.sizes() == mask.sizes(), "sparse_mask(): operands have incompatible sizes; self has "
        "size ",
        self.sizes(), " but mask has size ", mask.sizes());
  check(!(self.is_sparse_csr() && mask.is_sparse()), "sparse_mask_sparse_compressed expects mask "
        "to "
        "have sparse compressed layout, got Sparse");
  const Tensor places = mask.is_sparse() ? mask : compressed_to_coo(mask);
  const SparseImpl& m = sparse_impl(places);
  const Tensor coo = with_values(places, gather_places(to_strided(self), m.indices, m.sizes));
  if (mask.is_sparse()) return coo;
  // The mask's own lists, so that places holding zero stay.
  Target to = target_of(mask);
  if (to.layout == Layout::SparseCsr && sparse_impl(mask).batch_dim() == 0 && to.dense_dim == 0)
    return with_values(mask, sparse_impl(coo).values);
  const Tensor out = sparse_impl(mask).batch_dim() ? dense_to_compressed(to_strided(coo), to)
                                                   : to_layout(coo, to);
  const SparseImpl &a = sparse_impl(out), &b = sparse_impl(mask);
  check_implemented(a.nnz() == b.nnz(), "sparse_mask: batches of masks with zeros under them are "
                    "not "
                    "implemented");
  return with_values(mask, a.values);
}

Tensor _sparse_empty(IntRef size, std::optional<DType> dtype, std::optional<Layout> layout) {
  const Layout l = layout.value_or(Layout::Strided);
  const DType d = dtype.value_or(default_dtype());
  if (l == Layout::Strided) return zeros(size, d, {});
  if (l == Layout::Sparse) return empty_coo(size, int64_t(size.size()), d, {});
  return empty_compressed(l, size, d, DType::Int64, {});
}

}  // namespace rl::native
