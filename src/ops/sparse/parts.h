// What the operators on sparse tensors share. They stand below autograd: the generated wrappers
// choose them when an argument is sparse, and record as they do for dense ones.
#pragma once
#include <functional>
#include <vector>

#include "core/sparse.h"

namespace rl::sparse {

using Numbers = std::vector<int64_t>;

Tensor with_values(const Tensor& self, const Tensor& values);  // the same places
Tensor map_values(const Tensor& self, const std::function<Tensor(const Tensor&)>& f);
void assign(const Tensor& self, const Tensor& value, const char* name);
Tensor clone_parts(const Tensor& self);
Tensor to_dtype(const Tensor& self, DType dtype);  // self when it has it
const char* short_layout(const Tensor& t);         // "Sparse", "SparseCsr", "Strided": messages
bool is_dense_number(const Tensor& t);             // strided, 0-dim

// ---- rows of any dtype
Numbers numbers(const Tensor& t);                  // integers of a tensor, row-major
Tensor from_numbers(const Numbers& v, IntRef sizes, DType dtype, Device device);
Tensor take_rows(const Tensor& t, const Numbers& rows);        // t[rows]
Tensor take_columns(const Tensor& indices, const Numbers& at); // indices[:, at]
Tensor zeros(IntRef sizes, DType dtype, Device device);

// ---- COO (coo.cpp)
Tensor coalesced(const Tensor& self);  // sorted, repeated places added up; self when it is
// Row-major numbers of the places; RuntimeError for one outside `sizes`.
Numbers flat_places(const Tensor& indices, IntRef sizes);
Tensor empty_coo(IntRef sizes, int64_t sparse_dim, DType dtype, Device device);
Tensor empty_compressed(Layout layout, IntRef sizes, DType dtype, DType index_dtype,
                        Device device);

Tensor gather_places(const Tensor& dense, const Tensor& indices, IntRef sizes);  // (nnz, ...)
void add_places(const Tensor& dense, const Tensor& coo, const Scalar& alpha);    // dense += alpha
Tensor broadcast_coo(const Tensor& self, IntRef sizes);

// ---- between layouts (convert.cpp, compress.cpp)
struct Target {
  Layout layout;
  int64_t rows = 1, cols = 1;  // of a block
  int64_t dense_dim = 0;
};
Tensor to_strided(const Tensor& self);
Tensor dense_to_coo(const Tensor& self, int64_t sparse_dim);
Tensor compressed_to_coo(const Tensor& self);
Tensor coo_to_compressed(const Tensor& self, const Target& to);
Tensor dense_to_compressed(const Tensor& self, const Target& to);
Tensor to_layout(const Tensor& self, const Target& to);  // any to any
Target target_of(const Tensor& like);                    // layout and block of a sparse tensor

// ---- matrices
// A matrix in row-compressed form: int64 indices with checked bounds, contiguous values.
struct Rows {
  int64_t rows = 0, cols = 0;
  Tensor pointers, columns, values;
  int64_t nnz() const { return columns.numel(); }
};
Rows as_rows(const Tensor& matrix);                      // any sparse layout, 2-d, no dense dims
Tensor mm(const Tensor& self, const Tensor& mat2);       // one of them sparse
Tensor mul(const Tensor& self, const Tensor& other);
Tensor select(const Tensor& self, int64_t dim, int64_t index);
Tensor cat(TensorList tensors, int64_t dim);
Tensor unsqueeze(const Tensor& self, int64_t dim);

}  // namespace rl::sparse
