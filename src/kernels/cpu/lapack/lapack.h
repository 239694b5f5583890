// LAPACK and BLAS by OpenBLAS, opened at first use. Column-major, raw pointers, 32-bit sizes; T is
// float, double, std::complex<float> or std::complex<double>. Functions that need a workspace ask
// for its best size and allocate it themselves. The result is LAPACK's `info`: 0 when all is well,
// > 0 for what the algorithm met (a singular factor, no convergence), < 0 for a wrong argument.
#pragma once
#include <complex>
#include <cstdint>

namespace rl::lapack {

template <class T> struct RealOf { using type = T; };
template <class T> struct RealOf<std::complex<T>> { using type = T; };
template <class T> using Real = typename RealOf<T>::type;

// While one of these lives, OpenBLAS uses one thread: for callers that run a batch in parallel.
class Serial {
 public:
  Serial();
  ~Serial();
  Serial(const Serial&) = delete;
  Serial& operator=(const Serial&) = delete;
};

// General systems by LU
template <class T> int gesv(int n, int nrhs, T* a, int lda, int* ipiv, T* b, int ldb);
template <class T> int getrf(int m, int n, T* a, int lda, int* ipiv);
template <class T>
int getrs(char trans, int n, int nrhs, const T* a, int lda, const int* ipiv, T* b, int ldb);
template <class T> int getri(int n, T* a, int lda, const int* ipiv);

// Positive definite systems by Cholesky
template <class T> int potrf(char uplo, int n, T* a, int lda);
template <class T> int potrs(char uplo, int n, int nrhs, const T* a, int lda, T* b, int ldb);
template <class T> int potri(char uplo, int n, T* a, int lda);

// Symmetric and Hermitian indefinite systems (for real T, hetrf is sytrf and hetrs is sytrs)
template <class T> int sytrf(char uplo, int n, T* a, int lda, int* ipiv);
template <class T>
int sytrs(char uplo, int n, int nrhs, const T* a, int lda, const int* ipiv, T* b, int ldb);
template <class T> int hetrf(char uplo, int n, T* a, int lda, int* ipiv);
template <class T>
int hetrs(char uplo, int n, int nrhs, const T* a, int lda, const int* ipiv, T* b, int ldb);

// Triangular systems
template <class T>
int trtrs(char uplo, char trans, char diag, int n, int nrhs, const T* a, int lda, T* b, int ldb);
template <class T> int trtri(char uplo, char diag, int n, T* a, int lda);

// Eigenvalues. geev of a real matrix writes real and imaginary parts to wr and wi, and a pair of
// conjugate eigenvectors as two real columns; of a complex one, all to wr (wi is not used).
template <class T> int heevd(char jobz, char uplo, int n, T* a, int lda, Real<T>* w);
template <class T>
int geev(char jobvl, char jobvr, int n, T* a, int lda, T* wr, T* wi, T* vl, int ldvl, T* vr,
         int ldvr);

// Singular values
template <class T>
int gesdd(char jobz, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt);
template <class T>
int gesvd(char jobu, char jobvt, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt,
          int ldvt);

// QR: `orgqr` and `ormqr` are ungqr and unmqr for complex T
template <class T> int geqrf(int m, int n, T* a, int lda, T* tau);
template <class T> int geqp3(int m, int n, T* a, int lda, int* jpvt, T* tau);
template <class T> int orgqr(int m, int n, int k, T* a, int lda, const T* tau);
template <class T>
int ormqr(char side, char trans, int m, int n, int k, const T* a, int lda, const T* tau, T* c,
          int ldc);

// Least squares
template <class T>
int gels(char trans, int m, int n, int nrhs, T* a, int lda, T* b, int ldb);
template <class T>
int gelsy(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, int* jpvt, Real<T> rcond,
          int* rank);
template <class T>
int gelsd(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, Real<T>* s, Real<T> rcond,
          int* rank);
template <class T>
int gelss(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, Real<T>* s, Real<T> rcond,
          int* rank);

// BLAS, column-major: C = alpha op(A) op(B) + beta C; trans is 'N', 'T' or 'C'.
template <class T>
void gemm(char transa, char transb, int m, int n, int k, T alpha, const T* a, int lda, const T* b,
          int ldb, T beta, T* c, int ldc);
template <class T>
void gemv(char trans, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta,
          T* y, int incy);
template <class T>
void trsm(char side, char uplo, char transa, char diag, int m, int n, T alpha, const T* a, int lda,
          T* b, int ldb);

}  // namespace rl::lapack
