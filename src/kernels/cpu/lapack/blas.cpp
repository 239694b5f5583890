// The BLAS routines of lapack.h.
#include "kernels/cpu/lapack/fortran.h"
#include "kernels/cpu/lapack/lapack.h"

namespace rl::lapack {

template <class T>
void gemm(char transa, char transb, int m, int n, int k, T alpha, const T* a, int lda, const T* b,
          int ldb, T beta, T* c, int ldc) {
  static void* const f = of<T>("gemm");
  call(f, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <class T>
void gemv(char trans, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta,
          T* y, int incy) {
  static void* const f = of<T>("gemv");
  call(f, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

template <class T>
void trsm(char side, char uplo, char transa, char diag, int m, int n, T alpha, const T* a, int lda,
          T* b, int ldb) {
  static void* const f = of<T>("trsm");
  call(f, side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb);
}

#define RL_BLAS(T)                                                                               \
  template void gemm<T>(char, char, int, int, int, T, const T*, int, const T*, int, T, T*, int); \
  template void gemv<T>(char, int, int, T, const T*, int, const T*, int, T, T*, int);            \
  template void trsm<T>(char, char, char, char, int, int, T, const T*, int, T*, int);
RL_BLAS(float)
RL_BLAS(double)
RL_BLAS(std::complex<float>)
RL_BLAS(std::complex<double>)
#undef RL_BLAS

}  // namespace rl::lapack
