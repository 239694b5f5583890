// Compressed sparse tensors from their parts, and the invariants of the parts.
#include <algorithm>

#include "ops/native.h"
#include "ops/sparse/parts.h"

namespace rl::native {

using namespace sparse;

namespace {

// How messages name the parts of one layout.
struct Words {
  const char *compressed, *plain, *compressed_dim, *plain_dim, *lines;
};
Words words_of(Layout l) {
  if (is_row_major(l))
    return {"crow_indices", "col_indices", is_block(l) ? "row blocks" : "rows",
            is_block(l) ? "column blocks" : "columns", is_block(l) ? "nrowblocks" : "nrows"};
  return {"ccol_indices", "row_indices", is_block(l) ? "column blocks" : "columns",
          is_block(l) ? "row blocks" : "rows", is_block(l) ? "ncolblocks" : "ncols"};
}
const char* across_word(Layout l) {
  if (is_row_major(l)) return is_block(l) ? "ncolblocks" : "ncols";
  return is_block(l) ? "nrowblocks" : "nrows";
}

void check_layout(std::optional<Layout> layout, const char* what) {
  check(layout.has_value(), what, " expected sparse compressed tensor layout but got none");
  check(is_compressed(*layout), what, " expected sparse compressed tensor layout but got ",
        *layout == Layout::Sparse ? "Sparse" : "Strided");
}

struct Shape {
  int64_t batch, block, dense, rows, cols, lines, across;
};

Shape check_shapes(const Tensor& compressed, const Tensor& plain, const Tensor& values, IntRef size,
                   Layout layout, const Words& w) {
  check(compressed.dim() >= 1, w.compressed, " must have dimensionality >= 1 but got ",
        compressed.dim());
  check(compressed.dim() == plain.dim(), w.compressed, " and ", w.plain,
        " dimensionalities must be equal but got ", compressed.dim(), " and ", plain.dim(),
        ", respectively");
  Shape s{compressed.dim() - 1, is_block(layout) ? 2 : 0, 0, 1, 1, 0, 0};
  check(values.dim() > s.batch + s.block, "values must have dimensionality > sum of batch and "
        "block "
        "dimensionalities (=", s.batch, " + ", s.block, ") but got ", values.dim());
  s.dense = values.dim() - s.batch - s.block - 1;
  check(int64_t(size.size()) == s.batch + 2 + s.dense, "tensor dimensionality must be sum of "
        "batch, "
        "base, and dense dimensionalities (=", s.batch, " + 2 + ", s.dense, ") but got ",
        size.size());
  for (int64_t d = 0; d < s.batch; ++d) {
    const int64_t n = size[size_t(d)];
    check(compressed.size(d) == n && plain.size(d) == n && values.size(d) == n,
          "all batch dimensions of ", w.compressed, " (=", compressed.sizes(), "), ", w.plain,
          " (=", plain.sizes(), "), and values (=", values.sizes(), ") must be equal to tensor "
          "batch dimensions (=", size.slice(0, size_t(s.batch)), ")");
  }
  for (int64_t d = 0; d < s.block; ++d) {
    const int64_t n = size[size_t(s.batch + d)], b = values.size(s.batch + 1 + d);
    check(b > 0 && n % b == 0, "tensor shape[", s.batch + d, "] (=", n,
          ") must be divisible with blocksize[", d, "] (=", b, ") as defined by values shape");
    (d ? s.cols : s.rows) = b;
  }
  const int64_t rows = size[size_t(s.batch)] / s.rows, cols = size[size_t(s.batch + 1)] / s.cols;
  s.lines = is_row_major(layout) ? rows : cols;
  s.across = is_row_major(layout) ? cols : rows;
  check(compressed.size(-1) == s.lines + 1, w.compressed, ".shape[-1] must be equal to the number "
        "of ", w.compressed_dim, " + 1 (=", s.lines + 1, "), but got ", compressed.size(-1));
  const int64_t nnz = values.size(s.batch);
  check(plain.size(-1) == nnz, w.plain, ".shape[-1] must be equal to nnz (=", nnz,
        ") as defined by values.shape[", s.batch, "], but got ", plain.size(-1));
  for (int64_t d = 0; d < s.dense; ++d)
    check(values.size(s.batch + s.block + 1 + d) == size[size_t(s.batch + 2 + d)],
          "values shape ", values.sizes(), " does not fit the dense dimensions of size ", size);
  return s;
}

void check_lists(const Numbers& compressed, const Numbers& plain, const Shape& s, int64_t nnz,
                 Layout layout, const Words& w) {
  const size_t lists = compressed.size() / size_t(s.lines + 1);
  for (size_t b = 0; b < lists; ++b) {
    const int64_t* p = compressed.data() + b * size_t(s.lines + 1);
    const int64_t* at = plain.data() + int64_t(b) * nnz;
    check(p[0] == 0, "`", w.compressed, "[..., 0] == 0` is not satisfied.");
    check(p[s.lines] == nnz, "`", w.compressed, "[..., -1] == nnz` is not satisfied.");
    for (int64_t i = 1; i <= s.lines; ++i)
      check(p[i] >= p[i - 1] && p[i] - p[i - 1] <= s.across, "`0 <= ", w.compressed, "[..., 1:] - ",
            w.compressed, "[..., :-1] <= ", across_word(layout), "` is not satisfied.");
    for (int64_t i = 0; i < nnz; ++i)
      check(at[i] >= 0 && at[i] < s.across, "`0 <= ", w.plain, " < ", across_word(layout),
            "` is not satisfied.");
    for (int64_t i = 1; i <= s.lines; ++i)
      for (int64_t e = p[i - 1] + 1; e < p[i]; ++e)
        check(at[e] > at[e - 1], "`", w.plain, "[..., ", w.compressed, "[..., i - 1]:",
              w.compressed, "[..., i]] for all i = 1, ..., ", w.lines,
              " are sorted and distinct along the last dimension values` is not satisfied.");
  }
}

}  // namespace

void _validate_sparse_compressed_tensor_args(const Tensor& compressed, const Tensor& plain,
                                             const Tensor& values, IntRef size,
                                             std::optional<Layout> layout) {
  check_layout(layout, "validate_sparse_compressed_tensor_args");
  const Words w = words_of(*layout);
  check(!is_sparse_kind(compressed) && !is_sparse_kind(plain) && !is_sparse_kind(values),
        "expected the parts of a sparse compressed tensor to be strided");
  const Shape s = check_shapes(compressed, plain, values, size, *layout, w);
  check(compressed.dtype() == plain.dtype(), w.compressed, " and ", w.plain,
        " must have the same dtype, bot got ", scalar_type_name(compressed.dtype()), " and ",
        scalar_type_name(plain.dtype()), ", respectively");
  check(compressed.dtype() == DType::Int64 || compressed.dtype() == DType::Int32, w.compressed,
        " and ", w.plain, " dtype must be Int or Long, but got ",
        scalar_type_name(compressed.dtype()));
  check_lists(numbers(compressed), numbers(plain), s, values.size(s.batch), *layout, w);
}

Tensor _sparse_compressed_tensor_with_parts(const Tensor& compressed, const Tensor& plain,
                                            const Tensor& values, IntRef size,
                                            std::optional<Layout> layout) {
  check_layout(layout, "sparse_compressed_tensor");
  check(!is_sparse_kind(compressed) && !is_sparse_kind(plain) && !is_sparse_kind(values),
        "expected the parts of a sparse compressed tensor to be strided");
  // What geometry relies on even when the invariants are not checked.
  const int64_t least = compressed.dim() + (is_block(*layout) ? 2 : 0);
  check(compressed.dim() >= 1 && plain.dim() == compressed.dim() && values.dim() >= least &&
            int64_t(size.size()) == values.dim() - least + compressed.dim() + 1,
        "tensor dimensionality must be sum of batch, base, and dense dimensionalities, but got "
        "size ", size, " with indices of ", compressed.dim(), " and ", plain.dim(),
        " and values of ", values.dim(), " dimensions");
  return make_compressed(*layout, alias(compressed), alias(plain), alias(values), size);
}

}  // namespace rl::native
