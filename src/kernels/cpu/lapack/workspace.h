// LAPACK's two-step calls: ask for the best workspace, allocate it, run. Private to this folder.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>

#include "kernels/cpu/lapack/lapack.h"

namespace rl::lapack {

template <class T>
Real<T> real_part(T x) {
  return std::real(x);
}

// A size that a float cannot hold exactly may have been rounded down: go one step up.
template <class T>
int workspace_size(T answer) {
  const Real<T> size = real_part(answer);
  return std::max(1, int(std::nextafter(size, size * 2)));
}

// f(work, lwork, info) is called twice, first with lwork = -1.
template <class T, class F>
int with_workspace(F&& f) {
  T answer{};
  int info = 0;
  f(&answer, -1, &info);
  if (info != 0) return info;
  const int size = workspace_size(answer);
  const std::unique_ptr<T[]> work(new T[size]);
  f(work.get(), size, &info);
  return info;
}

}  // namespace rl::lapack
