// Stockham's self-sorting transform (Cochran et al. 1967) with radices 2 to 5 unrolled, over
// columns that lie side by side, so that the innermost loop runs over neighbours from the start.
#include "kernels/cpu/fft.h"

#include <utility>

#include "kernels/cpu/isa.h"

namespace rl::cpu::RL_ISA {
namespace {

template <class R> struct Complex {
  R re, im;
};
template <class R> RL_INLINE Complex<R> operator+(Complex<R> a, Complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R> RL_INLINE Complex<R> operator-(Complex<R> a, Complex<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R> RL_INLINE Complex<R> times(Complex<R> a, Complex<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R> RL_INLINE Complex<R> scaled(Complex<R> a, R s) { return {a.re * s, a.im * s}; }
template <class R> RL_INLINE Complex<R> minus_i(Complex<R> a) { return {a.im, -a.re}; }

template <class R> RL_INLINE void small_dft(Complex<R> (&a)[2]) {
  const Complex<R> b = a[0] - a[1];
  a[0] = a[0] + a[1];
  a[1] = b;
}
template <class R> RL_INLINE void small_dft(Complex<R> (&a)[3]) {
  constexpr R s = R(0.86602540378443864676);
  const Complex<R> sum = a[1] + a[2], turn = scaled(minus_i(a[1] - a[2]), s);
  const Complex<R> middle = a[0] - scaled(sum, R(0.5));
  a[0] = a[0] + sum;
  a[1] = middle + turn;
  a[2] = middle - turn;
}
template <class R> RL_INLINE void small_dft(Complex<R> (&a)[4]) {
  const Complex<R> p = a[0] + a[2], m = a[0] - a[2], q = a[1] + a[3], t = minus_i(a[1] - a[3]);
  a[0] = p + q;
  a[1] = m + t;
  a[2] = p - q;
  a[3] = m - t;
}
template <class R> RL_INLINE void small_dft(Complex<R> (&a)[5]) {
  constexpr R c1 = R(0.30901699437494742410), c2 = R(-0.80901699437494742410);
  constexpr R s1 = R(0.95105651629515357212), s2 = R(0.58778525229247312917);
  const Complex<R> p = a[1] + a[4], q = a[2] + a[3], u = a[1] - a[4], v = a[2] - a[3];
  const Complex<R> r1 = a[0] + scaled(p, c1) + scaled(q, c2);
  const Complex<R> r2 = a[0] + scaled(p, c2) + scaled(q, c1);
  const Complex<R> t1 = minus_i(scaled(u, s1) + scaled(v, s2));
  const Complex<R> t2 = minus_i(scaled(u, s2) - scaled(v, s1));
  a[0] = a[0] + p + q;
  a[1] = r1 + t1;
  a[2] = r2 + t2;
  a[3] = r2 - t2;
  a[4] = r1 - t1;
}

template <class R> struct Side {
  R *re, *im;
};

// One stage: x is [radix][m][s], y is [m][radix][s].
template <int P, class R>
void stage(Side<R> x, Side<R> y, const FftTable& table, const FftStage& st, int64_t s) {
  const R* wr = table.data<R>() + st.twiddles;
  const R* wi = wr + table.imag;
  const int64_t m = st.m;
  for (int64_t q = 0; q < m; ++q) {
    Complex<R> w[P];
    for (int i = 1; i < P; ++i) w[i] = {wr[(i - 1) * m + q], wi[(i - 1) * m + q]};
    const R* __restrict xr = x.re + q * s;
    const R* __restrict xi = x.im + q * s;
    R* __restrict yr = y.re + q * P * s;
    R* __restrict yi = y.im + q * P * s;
#pragma GCC ivdep
    for (int64_t k = 0; k < s; ++k) {
      Complex<R> a[P];
#pragma GCC unroll 5
      for (int j = 0; j < P; ++j) a[j] = {xr[k + j * m * s], xi[k + j * m * s]};
      small_dft(a);
      yr[k] = a[0].re;
      yi[k] = a[0].im;
#pragma GCC unroll 5
      for (int j = 1; j < P; ++j) {
        const Complex<R> b = times(a[j], w[j]);
        yr[k + j * s] = b.re;
        yi[k + j * s] = b.im;
      }
    }
  }
}

// Any other radix, by the definition.
template <class R>
void stage_any(Side<R> x, Side<R> y, const FftTable& table, const FftStage& st, int64_t s) {
  const R* wr = table.data<R>() + st.twiddles;
  const R* wi = wr + table.imag;
  const R* rr = table.data<R>() + st.roots;
  const R* ri = rr + table.imag;
  const int64_t m = st.m, p = st.radix;
  for (int64_t q = 0; q < m; ++q)
    for (int64_t i = 0; i < p; ++i) {
      R* __restrict yr = y.re + (q * p + i) * s;
      R* __restrict yi = y.im + (q * p + i) * s;
      const Complex<R> w = i ? Complex<R>{wr[(i - 1) * m + q], wi[(i - 1) * m + q]}
                             : Complex<R>{R(1), R(0)};
      for (int64_t k = 0; k < s; ++k) yr[k] = yi[k] = 0;
      for (int64_t j = 0; j < p; ++j) {
        const Complex<R> c{rr[i * j % p], ri[i * j % p]};
        const R* __restrict xr = x.re + (j * m + q) * s;
        const R* __restrict xi = x.im + (j * m + q) * s;
        for (int64_t k = 0; k < s; ++k) {
          yr[k] += xr[k] * c.re - xi[k] * c.im;
          yi[k] += xr[k] * c.im + xi[k] * c.re;
        }
      }
      for (int64_t k = 0; k < s; ++k) {
        const Complex<R> b = times(Complex<R>{yr[k], yi[k]}, w);
        yr[k] = b.re;
        yi[k] = b.im;
      }
    }
}

// The result ends in x; x and y may be exchanged.
template <class R>
void run_stages(const FftPlan& plan, Side<R>& x, Side<R>& y, int64_t batch) {
  int64_t s = batch;
  for (const FftStage& st : plan.stages) {
    switch (st.radix) {
      case 2: stage<2>(x, y, plan.table, st, s); break;
      case 3: stage<3>(x, y, plan.table, st, s); break;
      case 4: stage<4>(x, y, plan.table, st, s); break;
      case 5: stage<5>(x, y, plan.table, st, s); break;
      default: stage_any(x, y, plan.table, st, s);
    }
    std::swap(x, y);
    s *= st.radix;
  }
}

// y[i][:] = x[i][:] * t[i]
template <class R>
void multiply_rows(Side<R> x, Side<R> y, const FftTable& t, int64_t rows, int64_t batch) {
  const R* tr = t.data<R>();
  const R* ti = tr + t.imag;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = i * batch; k < (i + 1) * batch; ++k) {
      const Complex<R> v = times(Complex<R>{x.re[k], x.im[k]}, Complex<R>{tr[i], ti[i]});
      y.re[k] = v.re;
      y.im[k] = v.im;
    }
}

// X_k = c_k sum_j (x_j c_j) conj(c_{k-j}),  c_k = exp(-i pi k^2 / n)
template <class R>
void bluestein(const FftPlan& plan, Side<R>& x, Side<R>& y, int64_t batch) {
  const FftPlan& conv = *plan.convolution;
  multiply_rows(x, y, plan.chirp, plan.n, batch);
  for (int64_t k = plan.n * batch; k < conv.n * batch; ++k) y.re[k] = y.im[k] = 0;
  run_stages(conv, y, x, batch);
  multiply_rows(y, y, plan.kernel, conv.n, batch);
  std::swap(y.re, y.im);  // the inverse transform: exchange the parts before and after
  std::swap(x.re, x.im);
  run_stages(conv, y, x, batch);
  std::swap(y.re, y.im);
  std::swap(x.re, x.im);
  multiply_rows(y, x, plan.chirp, plan.n, batch);
}

template <class R>
void columns(const FftPlan& plan, void** b, int64_t batch) {
  Side<R> x{static_cast<R*>(b[0]), static_cast<R*>(b[1])};
  Side<R> y{static_cast<R*>(b[2]), static_cast<R*>(b[3])};
  if (plan.convolution) bluestein(plan, x, y, batch);
  else run_stages(plan, x, y, batch);
  b[0] = x.re;
  b[1] = x.im;
  b[2] = y.re;
  b[3] = y.im;
}

// X_k = E_k + w_k O_k and X_{m-k} = conj(E_k - w_k O_k), where E and O are the transforms of the
// even and odd elements: E_k = (Z_k + conj Z_{m-k}) / 2, O_k = (Z_k - conj Z_{m-k}) / 2i.
template <class R>
void join_halves(const FftTable& half, R* re, R* im, int64_t m, int64_t batch) {
  const R* hr = half.data<R>();
  const R* hi = hr + half.imag;
  for (int64_t l = 0; l < batch; ++l) {
    const R even = re[l], odd = im[l];
    re[l] = even + odd;
    re[m * batch + l] = even - odd;
    im[l] = im[m * batch + l] = 0;
  }
  for (int64_t k = 1; 2 * k <= m; ++k) {
    R *ar = re + k * batch, *ai = im + k * batch;
    R *br = re + (m - k) * batch, *bi = im + (m - k) * batch;
    const Complex<R> w{hr[k], hi[k]};
#pragma GCC ivdep
    for (int64_t l = 0; l < batch; ++l) {
      const Complex<R> e{(ar[l] + br[l]) / 2, (ai[l] - bi[l]) / 2};
      const Complex<R> o = times(Complex<R>{(ai[l] + bi[l]) / 2, (br[l] - ar[l]) / 2}, w);
      ar[l] = e.re + o.re;
      ai[l] = e.im + o.im;
      br[l] = e.re - o.re;
      bi[l] = o.im - e.im;
    }
  }
}

}  // namespace

void fft_join_halves(DType real, const FftTable& half, void* re, void* im, int64_t m,
                     int64_t batch) {
  if (real == DType::Float)
    join_halves(half, static_cast<float*>(re), static_cast<float*>(im), m, batch);
  else
    join_halves(half, static_cast<double*>(re), static_cast<double*>(im), m, batch);
}

void fft_columns(DType real, const FftPlan& plan, void** buffers, int64_t batch) {
  if (real == DType::Float) columns<float>(plan, buffers, batch);
  else columns<double>(plan, buffers, batch);
}

}  // namespace rl::cpu::RL_ISA
