// Eigenvalues, singular values and QR of lapack.h.
#include <algorithm>
#include <vector>

#include "kernels/cpu/lapack/fortran.h"
#include "kernels/cpu/lapack/lapack.h"
#include "kernels/cpu/lapack/workspace.h"

namespace rl::lapack {

// The query also answers for the integer and, of complex matrices, the real workspace.
template <class T>
int heevd(char jobz, char uplo, int n, T* a, int lda, Real<T>* w) {
  static void* const f = of<T>("syevd", "heevd");
  std::vector<Real<T>> rwork(1);
  std::vector<int> iwork(1);
  int lrwork = -1, liwork = -1;
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    if (lwork >= 0) {
      liwork = std::max(1, iwork[0]);
      iwork.resize(liwork);
      lrwork = workspace_size(rwork[0]);
      rwork.resize(lrwork);
    }
    if constexpr (kComplex<T>) {
      call(f, jobz, uplo, n, a, lda, w, work, lwork, rwork.data(), lrwork, iwork.data(), liwork,
           info);
    } else {
      call(f, jobz, uplo, n, a, lda, w, work, lwork, iwork.data(), liwork, info);
    }
  });
}

template <class T>
int geev(char jobvl, char jobvr, int n, T* a, int lda, T* wr, T* wi, T* vl, int ldvl, T* vr,
         int ldvr) {
  static void* const f = of<T>("geev");
  std::vector<Real<T>> rwork(kComplex<T> ? std::max(1, 2 * n) : 0);
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    if constexpr (kComplex<T>) {
      call(f, jobvl, jobvr, n, a, lda, wr, vl, ldvl, vr, ldvr, work, lwork, rwork.data(), info);
    } else {
      call(f, jobvl, jobvr, n, a, lda, wr, wi, vl, ldvl, vr, ldvr, work, lwork, info);
    }
  });
}

template <class T>
int gesdd(char jobz, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt) {
  static void* const f = of<T>("gesdd");
  const int64_t small = std::min(m, n), large = std::max(m, n);
  std::vector<int> iwork(std::max<int64_t>(1, 8 * small));
  // The real workspace of the complex routine, by the formulas of its documentation.
  const int64_t reals = jobz == 'N' ? 7 * small
                                    : std::max(5 * small * small + 5 * small,
                                               2 * large * small + 2 * small * small + small);
  std::vector<Real<T>> rwork(kComplex<T> ? std::max<int64_t>(1, reals) : 0);
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    if constexpr (kComplex<T>) {
      call(f, jobz, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, rwork.data(), iwork.data(),
           info);
    } else {
      call(f, jobz, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, iwork.data(), info);
    }
  });
}

template <class T>
int gesvd(char jobu, char jobvt, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt,
          int ldvt) {
  static void* const f = of<T>("gesvd");
  std::vector<Real<T>> rwork(kComplex<T> ? std::max(1, 5 * std::min(m, n)) : 0);
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    if constexpr (kComplex<T>) {
      call(f, jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, rwork.data(), info);
    } else {
      call(f, jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, info);
    }
  });
}

template <class T>
int geqrf(int m, int n, T* a, int lda, T* tau) {
  static void* const f = of<T>("geqrf");
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    call(f, m, n, a, lda, tau, work, lwork, info);
  });
}

template <class T>
int geqp3(int m, int n, T* a, int lda, int* jpvt, T* tau) {
  static void* const f = of<T>("geqp3");
  std::vector<Real<T>> rwork(kComplex<T> ? std::max(1, 2 * n) : 0);
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    if constexpr (kComplex<T>) {
      call(f, m, n, a, lda, jpvt, tau, work, lwork, rwork.data(), info);
    } else {
      call(f, m, n, a, lda, jpvt, tau, work, lwork, info);
    }
  });
}

template <class T>
int orgqr(int m, int n, int k, T* a, int lda, const T* tau) {
  static void* const f = of<T>("orgqr", "ungqr");
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    call(f, m, n, k, a, lda, tau, work, lwork, info);
  });
}

template <class T>
int ormqr(char side, char trans, int m, int n, int k, const T* a, int lda, const T* tau, T* c,
          int ldc) {
  static void* const f = of<T>("ormqr", "unmqr");
  return with_workspace<T>([&](T* work, int lwork, int* info) {
    call(f, side, trans, m, n, k, a, lda, tau, c, ldc, work, lwork, info);
  });
}

#define RL_DECOMPOSE(T)                                                                          \
  template int heevd<T>(char, char, int, T*, int, Real<T>*);                                     \
  template int geev<T>(char, char, int, T*, int, T*, T*, T*, int, T*, int);                      \
  template int gesdd<T>(char, int, int, T*, int, Real<T>*, T*, int, T*, int);                    \
  template int gesvd<T>(char, char, int, int, T*, int, Real<T>*, T*, int, T*, int);              \
  template int geqrf<T>(int, int, T*, int, T*);                                                  \
  template int geqp3<T>(int, int, T*, int, int*, T*);                                            \
  template int orgqr<T>(int, int, int, T*, int, const T*);                                       \
  template int ormqr<T>(char, char, int, int, int, const T*, int, const T*, T*, int);
RL_DECOMPOSE(float)
RL_DECOMPOSE(double)
RL_DECOMPOSE(std::complex<float>)
RL_DECOMPOSE(std::complex<double>)
#undef RL_DECOMPOSE

}  // namespace rl::lapack
