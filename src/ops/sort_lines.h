// Work on the lines of a tensor along one dimension, several lines at a time on several threads.
#pragma once
#include <algorithm>

#include "base/parallel.h"
#include "kernels/sort.h"
#include "ops/index_tools.h"

namespace rl {

// One dimension of a tensor: where its lines start and how far its elements are apart.
class Lines {
 public:
  Lines(const Tensor& t, int64_t dim, int64_t keep) : item_(t.itemsize()) {
    data_ = static_cast<char*>(t.data());
    if (t.dim() == 0) return;
    for (int64_t d = 0; d < t.dim(); ++d) {
      if (d == dim) {
        step_ = t.stride(d);
        continue;
      }
      sizes_.push_back(t.size(d));
      strides_.push_back(t.stride(d));
    }
    if (keep == 0) step_ = 1;
  }
  char* line(int64_t i) const {
    int64_t at = 0;
    for (size_t d = sizes_.size(); d-- > 0;) {
      at += i % sizes_[d] * strides_[d];
      i /= sizes_[d];
    }
    return data_ + at * item_;
  }
  int64_t step() const { return step_; }

 private:
  char* data_ = nullptr;
  int64_t item_, step_ = 1;
  Dims sizes_, strides_;
};

// f(begin, end) over line numbers; n: elements of a line.
template <class F>
void for_lines(int64_t lines, int64_t n, F&& f) {
  parallel_for(0, lines, std::max<int64_t>(1, 4096 / std::max<int64_t>(n, 1)), f);
}

inline int64_t line_size(const Tensor& t, int64_t dim) { return t.dim() == 0 ? 1 : t.size(dim); }
inline int64_t line_count(const Tensor& t, int64_t dim) {
  const int64_t n = line_size(t, dim);
  return n == 0 ? 0 : t.numel() / n;
}

}  // namespace rl
