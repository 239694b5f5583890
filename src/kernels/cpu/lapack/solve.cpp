// Linear systems and least squares of lapack.h.
#include <algorithm>
#include <vector>

#include "kernels/cpu/lapack/fortran.h"
#include "kernels/cpu/lapack/lapack.h"
#include "kernels/cpu/lapack/workspace.h"

namespace rl::lapack {

template <class T>
int gesv(int n, int nrhs, T* a, int lda, int* ipiv, T* b, int ldb) {
  static void* const f = of<T>("gesv");
  int info = 0;
  call(f, n, nrhs, a, lda, ipiv, b, ldb, &info);
  return info;
}

template <class T>
int getrf(int m, int n, T* a, int lda, int* ipiv) {
  static void* const f = of<T>("getrf");
  int info = 0;
  call(f, m, n, a, lda, ipiv, &info);
  return info;
}

template <class T>
int getrs(char trans, int n, int nrhs, const T* a, int lda, const int* ipiv, T* b, int ldb) {
  static void* const f = of<T>("getrs");
  int info = 0;
  call(f, trans, n, nrhs, a, lda, ipiv, b, ldb, &info);
  return info;
}

template <class T>
int getri(int n, T* a, int lda, const int* ipiv) {
  static void* const f = of<T>("getri");
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    call(f, n, a, lda, ipiv, work, lwork, info);
  });
}

template <class T>
int potrf(char uplo, int n, T* a, int lda) {
  static void* const f = of<T>("potrf");
  int info = 0;
  call(f, uplo, n, a, lda, &info);
  return info;
}

template <class T>
int potrs(char uplo, int n, int nrhs, const T* a, int lda, T* b, int ldb) {
  static void* const f = of<T>("potrs");
  int info = 0;
  call(f, uplo, n, nrhs, a, lda, b, ldb, &info);
  return info;
}

template <class T>
int potri(char uplo, int n, T* a, int lda) {
  static void* const f = of<T>("potri");
  int info = 0;
  call(f, uplo, n, a, lda, &info);
  return info;
}

template <class T>
int sytrf(char uplo, int n, T* a, int lda, int* ipiv) {
  static void* const f = of<T>("sytrf");
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    call(f, uplo, n, a, lda, ipiv, work, lwork, info);
  });
}

template <class T>
int sytrs(char uplo, int n, int nrhs, const T* a, int lda, const int* ipiv, T* b, int ldb) {
  static void* const f = of<T>("sytrs");
  int info = 0;
  call(f, uplo, n, nrhs, a, lda, ipiv, b, ldb, &info);
  return info;
}

template <class T>
int hetrf(char uplo, int n, T* a, int lda, int* ipiv) {
  static void* const f = of<T>("sytrf", "hetrf");
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    call(f, uplo, n, a, lda, ipiv, work, lwork, info);
  });
}

template <class T>
int hetrs(char uplo, int n, int nrhs, const T* a, int lda, const int* ipiv, T* b, int ldb) {
  static void* const f = of<T>("sytrs", "hetrs");
  int info = 0;
  call(f, uplo, n, nrhs, a, lda, ipiv, b, ldb, &info);
  return info;
}

template <class T>
int trtrs(char uplo, char trans, char diag, int n, int nrhs, const T* a, int lda, T* b, int ldb) {
  static void* const f = of<T>("trtrs");
  int info = 0;
  call(f, uplo, trans, diag, n, nrhs, a, lda, b, ldb, &info);
  return info;
}

template <class T>
int trtri(char uplo, char diag, int n, T* a, int lda) {
  static void* const f = of<T>("trtri");
  int info = 0;
  call(f, uplo, diag, n, a, lda, &info);
  return info;
}

template <class T>
int gels(char trans, int m, int n, int nrhs, T* a, int lda, T* b, int ldb) {
  static void* const f = of<T>("gels");
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    call(f, trans, m, n, nrhs, a, lda, b, ldb, work, lwork, info);
  });
}

template <class T>
int gelsy(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, int* jpvt, Real<T> rcond,
          int* rank) {
  static void* const f = of<T>("gelsy");
  std::vector<Real<T>> rwork(kComplex<T> ? std::max(1, 2 * n) : 0);
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    if constexpr (kComplex<T>) {
      call(f, m, n, nrhs, a, lda, b, ldb, jpvt, rcond, rank, work, lwork, rwork.data(), info);
    } else {
      call(f, m, n, nrhs, a, lda, b, ldb, jpvt, rcond, rank, work, lwork, info);
    }
  });
}

// The real and integer workspaces of gelsd come from the same query as the main one.
template <class T>
int gelsd(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, Real<T>* s, Real<T> rcond,
          int* rank) {
  static void* const f = of<T>("gelsd");
  std::vector<Real<T>> rwork(1);
  std::vector<int> iwork(1);
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    if (lwork >= 0) {
      iwork.resize(std::max(1, iwork[0]));
      rwork.resize(std::max(1, int(rwork[0])));
    }
    if constexpr (kComplex<T>) {
      call(f, m, n, nrhs, a, lda, b, ldb, s, rcond, rank, work, lwork, rwork.data(), iwork.data(),
           info);
    } else {
      call(f, m, n, nrhs, a, lda, b, ldb, s, rcond, rank, work, lwork, iwork.data(), info);
    }
  });
}

template <class T>
int gelss(int m, int n, int nrhs, T* a, int lda, T* b, int ldb, Real<T>* s, Real<T> rcond,
          int* rank) {
  static void* const f = of<T>("gelss");
  std::vector<Real<T>> rwork(kComplex<T> ? std::max(1, 5 * std::min(m, n)) : 0);
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    if constexpr (kComplex<T>) {
      call(f, m, n, nrhs, a, lda, b, ldb, s, rcond, rank, work, lwork, rwork.data(), info);
    } else {
      call(f, m, n, nrhs, a, lda, b, ldb, s, rcond, rank, work, lwork, info);
    }
  });
}

#define RL_SOLVE(T)                                                                              \
  template int gesv<T>(int, int, T*, int, int*, T*, int);                                        \
  template int getrf<T>(int, int, T*, int, int*);                                                \
  template int getrs<T>(char, int, int, const T*, int, const int*, T*, int);                     \
  template int getri<T>(int, T*, int, const int*);                                               \
  template int potrf<T>(char, int, T*, int);                                                     \
  template int potrs<T>(char, int, int, const T*, int, T*, int);                                 \
  template int potri<T>(char, int, T*, int);                                                     \
  template int sytrf<T>(char, int, T*, int, int*);                                               \
  template int sytrs<T>(char, int, int, const T*, int, const int*, T*, int);                     \
  template int hetrf<T>(char, int, T*, int, int*);                                               \
  template int hetrs<T>(char, int, int, const T*, int, const int*, T*, int);                     \
  template int trtrs<T>(char, char, char, int, int, const T*, int, T*, int);                     \
  template int trtri<T>(char, char, int, T*, int);                                               \
  template int gels<T>(char, int, int, int, T*, int, T*, int);                                   \
  template int gelsy<T>(int, int, int, T*, int, T*, int, int*, Real<T>, int*);                   \
  template int gelsd<T>(int, int, int, T*, int, T*, int, Real<T>*, Real<T>, int*);               \
  template int gelss<T>(int, int, int, T*, int, T*, int, Real<T>*, Real<T>, int*);
RL_SOLVE(float)
RL_SOLVE(double)
RL_SOLVE(std::complex<float>)
RL_SOLVE(std::complex<double>)
#undef RL_SOLVE

}  // namespace rl::lapack
