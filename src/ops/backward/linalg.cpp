// Gradients of decompositions and solvers. Giles, "An extended collection of matrix derivative
// results" (2008); Seeger et al., "Auto-differentiating linear algebra" (2017); Golub and Pereyra,
// "The differentiation of pseudo-inverses" (1973). X^H is the conjugate transpose.
#include <cmath>

#include "gen/ops/arith.h"
#include "gen/ops/compare.h"
#include "gen/ops/complex.h"
#include "gen/ops/create.h"
#include "gen/ops/join.h"
#include "gen/ops/linalg_decompose.h"
#include "gen/ops/linalg_solve.h"
#include "gen/ops/math.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/view_grads.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {
namespace {

Tensor mH(const Tensor& t) { return conj_if(rl::transpose(t, -2, -1)); }
Tensor times(const Tensor& a, const Tensor& b) { return rl::matmul(a, b); }
Tensor diagonal_of(const Tensor& t) { return rl::diagonal(t, 0, -2, -1); }
Tensor diagonal_matrix(const Tensor& d) {  // (..., n) -> (..., n, n)
  const int64_t n = d.size(-1);
  return rl::unsqueeze(d, -1) * rl::eye(n, d.dtype(), d.device());
}
Tensor half_diagonal(const Tensor& t) {  // the diagonal times 1/2
  const Tensor e = rl::eye(t.size(-1), to_real(t.dtype()), t.device());
  return t * (Scalar(1.0) - e * Scalar(0.5));
}
Tensor columns(const Tensor& t, int64_t from, int64_t to) { return rl::slice(t, -1, from, to, 1); }
Tensor rows(const Tensor& t, int64_t from, int64_t to) { return rl::slice(t, -2, from, to, 1); }
Tensor solve(const Tensor& a, const Tensor& b, bool left = true) {
  return std::get<0>(rl::_solve_matrix(a, b, left));
}
// op(A) is triangular: A^H of a lower A is upper.
Tensor solve_lower_H(const Tensor& l, const Tensor& b, bool unit = false) {  // L^-H B
  return rl::linalg_solve_triangular(mH(l), b, true, true, unit);
}
Tensor zeros_of(const Tensor& t) {
  return rl::full(t.sizes(), Scalar(0), t.dtype(), t.device());
}

}  // namespace

// ---- systems

Tensor inv_grad(const Tensor& grad, const Tensor& inverse) {
  const Tensor h = mH(inverse);
  return -times(h, times(grad, h));
}

std::tuple<Tensor, Tensor> solve_grad(const Tensor& grad, const Tensor& a, const Tensor& x,
                                      bool left, std::array<bool, 2> mask) {
  const Tensor gb = solve(mH(a), grad, left);
  Tensor ga;
  if (mask[0]) ga = left ? -times(gb, mH(x)) : -times(mH(x), gb);
  return {ga, gb};
}

std::tuple<Tensor, Tensor> solve_triangular_grad(const Tensor& grad, const Tensor& a,
                                                 const Tensor& x, bool upper, bool left, bool unit,
                                                 std::array<bool, 2> mask) {
  const Tensor gb = rl::linalg_solve_triangular(mH(a), grad, !upper, left, unit);
  Tensor ga;
  if (mask[0]) {
    ga = left ? -times(gb, mH(x)) : -times(mH(x), gb);
    ga = upper ? rl::triu(ga, unit ? 1 : 0) : rl::tril(ga, unit ? -1 : 0);
  }
  return {ga, gb};
}

// A = L L^H: gA = L^-H phi(L^H gL) L^-1, made Hermitian; phi takes the lower triangle and half of
// the diagonal.
Tensor cholesky_grad(const Tensor& grad, const Tensor& factor, bool upper) {
  const Tensor l = upper ? mH(factor) : factor, g = upper ? mH(grad) : grad;
  const Tensor phi = half_diagonal(rl::tril(times(mH(l), g), 0));
  const Tensor left = solve_lower_H(l, phi);
  const Tensor out = mH(solve_lower_H(l, mH(left)));
  return (out + mH(out)) * Scalar(0.5);
}

std::tuple<Tensor, Tensor> cholesky_solve_grad(const Tensor& grad, const Tensor& factor,
                                               const Tensor& x, bool upper,
                                               std::array<bool, 2> mask) {
  const Tensor gb = rl::cholesky_solve(grad, factor, upper);
  Tensor gf;
  if (mask[1]) {
    const Tensor common = times(gb, mH(x));
    const Tensor both = common + mH(common);
    gf = upper ? -times(factor, both) : -times(both, factor);
  }
  return {gb, gf};
}

Tensor cholesky_inverse_grad(const Tensor& grad, const Tensor& factor, bool upper,
                             const Tensor& inverse) {
  const Tensor common = times(inverse, times(grad + mH(grad), inverse));
  return upper ? -times(factor, common) : -times(common, factor);
}

// Square A = P L U: gA = P L^-H [tril(L^H gL, -1) + triu(gU U^H)] U^-H. Other shapes reduce to it.
static Tensor lu_square_grad(const Tensor& gl, const Tensor& gu, const Tensor& l, const Tensor& u,
                             const Tensor& p) {
  const Tensor phi = rl::tril(times(mH(l), gl), -1) + rl::triu(times(gu, mH(u)), 0);
  const Tensor left = solve_lower_H(l, phi, true);
  // X U^-H: (U^-1 X^H)^H
  const Tensor right = mH(rl::linalg_solve_triangular(u, mH(left), true, true, false));
  return times(p, right);
}

Tensor lu_factor_grad(const Tensor& grad, const Tensor& lu, const Tensor& pivots) {
  const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
  auto [p, l, u] = rl::lu_unpack(lu, pivots, true, true);
  const Tensor gl = rl::tril(columns(grad, 0, k), -1), gu = rl::triu(rows(grad, 0, k), 0);
  if (m == n) return lu_square_grad(gl, gu, l, u, p);
  if (m < n) {
    const Tensor u1 = columns(u, 0, m), u2 = columns(u, m, n);
    const Tensor g2 = solve_lower_H(l, columns(gu, m, n), true);
    const Tensor gl1 = gl - times(g2, mH(u2));
    const Tensor first = lu_square_grad(gl1, columns(gu, 0, m), l, u1, p);
    return rl::cat(std::vector<Tensor>{first, times(p, g2)}, -1);
  }
  const Tensor l1 = rows(l, 0, n), l2 = rows(l, n, m);
  const Tensor g2 = mH(rl::linalg_solve_triangular(u, mH(rows(gl, n, m)), true, true, false));
  const Tensor gu1 = gu - rl::triu(times(mH(l2), g2), 0);
  const Tensor eye = rl::expand(rl::eye(n, lu.dtype(), lu.device()), gu1.sizes(), false);
  const Tensor first = lu_square_grad(rows(gl, 0, n), gu1, l1, u, eye);
  return times(p, rl::cat(std::vector<Tensor>{first, g2}, -2));
}

// ---- determinants

// Products of all elements but one.
static Tensor products_without(const Tensor& s) {
  const int64_t n = s.size(-1);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < n; ++i) {
    Tensor p;
    for (int64_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const Tensor x = rl::select(s, -1, j);
      p = p.defined() ? p * x : x;
    }
    parts.push_back(p.defined() ? p
                                : rl::full(s.sizes().slice(0, size_t(s.dim()) - 1), Scalar(1),
                                           s.dtype(), s.device()));
  }
  return rl::stack(parts, -1);
}

Tensor det_grad(const Tensor& grad, const Tensor& a, const Tensor& det) {
  if (a.numel() == 0) return zeros_of(a);
  const Tensor zero = rl::eq(det, wrapped_number(Scalar(0.0)));
  const Tensor g = rl::unsqueeze(rl::unsqueeze(grad, -1), -1);
  if (!item(rl::any(zero)).to_bool()) {
    const Tensor scaled = g * rl::unsqueeze(rl::unsqueeze(conj_if(det), -1), -1);
    const Tensor eye = rl::eye(a.size(-1), a.dtype(), a.device());
    return solve(mH(a), scaled * eye);
  }
  // A singular matrix: the cofactors from singular values, which need no inverse.
  auto [u, s, vh] = rl::_linalg_svd(a, false, true, std::nullopt);
  const Tensor phase = conj_if(rl::linalg_det(u) * rl::linalg_det(vh));
  const Tensor without = rl::to(products_without(s), a.dtype());
  return g * rl::unsqueeze(rl::unsqueeze(phase, -1), -1) *
         times(u * rl::unsqueeze(without, -2), vh);
}

Tensor slogdet_grad(const Tensor& grad_sign, const Tensor& grad_log, const Tensor& a,
                    const Tensor& sign) {
  if (a.numel() == 0) return zeros_of(a);
  Tensor c = grad_log;
  if (a.is_complex()) {
    const Tensor turn = rl::imag(grad_sign * conj_if(sign));
    c = grad_log + turn * wrapped_number(Scalar(cdouble(0, 1)));
  }
  const Tensor g = rl::to(rl::unsqueeze(rl::unsqueeze(c, -1), -1), a.dtype());
  return solve(mH(a), g * rl::eye(a.size(-1), a.dtype(), a.device()));
}

// ---- QR and eigenvalues

// Square R: gA = [gQ + Q (X + X^H with half the diagonal)] R^-H, X = triu(gR R^H - Q^H gQ).
static Tensor qr_square_grad(const Tensor& gq, const Tensor& gr, const Tensor& q, const Tensor& r) {
  const Tensor x = rl::triu(times(gr, mH(r)) - times(mH(q), gq), 0);
  const Tensor inner = gq + times(q, half_diagonal(x + mH(x)));
  return mH(rl::linalg_solve_triangular(r, mH(inner), true, true, false));
}

Tensor qr_grad(const Tensor& gq, const Tensor& gr, const Tensor& q, const Tensor& r,
               const std::string& mode) {
  check(mode != "r", "The derivative of linalg.qr depends on Q, which is not computed when "
        "mode='r'. Please use linalg.qr(A, mode='reduced') if you are going to differentiate "
        "through linalg.qr.");
  const int64_t m = q.size(-2), n = r.size(-1);
  check(mode == "reduced" || m <= n, "The QR decomposition is not differentiable when "
        "mode='complete' and nrows > ncols");
  if (m >= n) return qr_square_grad(gq, gr, q, r);
  const Tensor u = columns(r, 0, m), v = columns(r, m, n);
  const Tensor gu = columns(gr, 0, m), gv = columns(gr, m, n);
  const Tensor y = times(q, v);
  const Tensor gx = qr_square_grad(gq + times(y, mH(gv)), gu, q, u);
  return rl::cat(std::vector<Tensor>{gx, times(q, gv)}, -1);
}

// 1 / (w_j - w_i), 0 on the diagonal.
static Tensor inverse_gaps(const Tensor& w) {
  const Tensor gaps = rl::unsqueeze(w, -2) - rl::unsqueeze(w, -1);
  const Tensor eye = rl::eye(w.size(-1), to_real(w.dtype()), w.device());
  return (Scalar(1.0) - eye) / (gaps + eye);
}

Tensor eigh_grad(const Tensor& gw, const Tensor& gv, const Tensor& w, const Tensor& v) {
  check(v.dim() >= 2, "linalg.eigh: the gradient needs the eigenvectors");
  const Tensor inner = diagonal_matrix(rl::to(gw, v.dtype())) + times(mH(v), gv) * inverse_gaps(w);
  return times(v, times(inner, mH(v)));
}

Tensor eig_grad(const Tensor& gw, const Tensor& gv, const Tensor& w, const Tensor& v) {
  const Tensor vg = times(mH(v), gv), length = rl::unsqueeze(rl::real(diagonal_of(vg)), -2);
  const Tensor free = vg - times(mH(v), v * length);
  const Tensor inner = diagonal_matrix(gw) + free * conj_if(inverse_gaps(w));
  return times(solve(mH(v), inner), mH(v));
}

// ---- singular values

static Tensor skew(const Tensor& t) { return t - mH(t); }

Tensor svd_grad(const Tensor& gu_full, const Tensor& gs, const Tensor& gvh_full,
                const Tensor& u_full, const Tensor& s, const Tensor& vh_full) {
  check(u_full.dim() >= 2, "linalg.svd: the gradient needs the singular vectors");
  const int64_t k = s.size(-1);
  const Tensor u = columns(u_full, 0, k), vh = rows(vh_full, 0, k);
  const Tensor gu = columns(gu_full, 0, k), gv = mH(rows(gvh_full, 0, k)), v = mH(vh);
  const Tensor e = inverse_gaps(s * s);
  const Tensor ugu = skew(times(mH(u), gu)), vgv = skew(times(vh, gv));
  Tensor inner = (ugu * e) * rl::unsqueeze(s, -2) + (vgv * e) * rl::unsqueeze(s, -1) +
                 diagonal_matrix(rl::to(gs, u.dtype()));
  if (u.is_complex()) inner = inner + diagonal_matrix(diagonal_of(ugu) / (s * Scalar(2.0)));
  Tensor out = times(u, times(inner, vh));
  const Tensor inverse = rl::unsqueeze(rl::reciprocal(s), -2);
  if (u.size(-2) > k) out = out + times((gu - times(u, times(mH(u), gu))) * inverse, vh);
  if (v.size(-2) > k) out = out + times(u, mH((gv - times(v, times(mH(v), gv))) * inverse));
  return out;
}

// ---- pseudo-inverse

Tensor pinv_grad(const Tensor& grad, const Tensor& a, const Tensor& p) {
  const Tensor gh = mH(grad), ph = mH(p);
  const Tensor first = times(ph, times(grad, ph));
  const Tensor left = times(gh, times(p, ph)), right = times(times(ph, p), gh);
  return left - times(a, times(p, left)) + right - times(times(right, p), a) - first;
}

std::tuple<Tensor, Tensor> lstsq_grad(const Tensor& grad, const Tensor& a, const Tensor& b,
                                      std::array<bool, 2> mask) {
  const Tensor p = rl::_pinv(a, Tensor(), Tensor(), false);
  const bool vector = a.dim() - b.dim() == 1;
  const Tensor g = vector ? rl::unsqueeze(grad, -1) : grad;
  const Tensor right = vector ? rl::unsqueeze(b, -1) : b;
  Tensor ga, gb;
  if (mask[0]) ga = pinv_grad(times(g, mH(right)), a, p);
  if (mask[1]) {
    gb = times(mH(p), g);
    if (vector) gb = rl::squeeze(gb, {-1});
  }
  return {ga, gb};
}

// R R = A gives R dR + dR R = dA: divided by sums of roots in the basis of the eigenvectors.
Tensor matrix_sqrth_grad(const Tensor& grad, const Tensor& a) {
  auto [w, v] = rl::_linalg_eigh(a, "L", true);
  const Tensor s = rl::sqrt(rl::clamp_min(w, Scalar(0.0)));
  const Tensor sums = rl::unsqueeze(s, -1) + rl::unsqueeze(s, -2);
  const Tensor none = rl::eq(sums, wrapped_number(Scalar(0.0)));
  const Tensor g = (grad + mH(grad)) * Scalar(0.5);
  const Tensor inner = rl::_where(
      none, wrapped_number(Scalar(0.0)),
      times(mH(v), times(g, v)) / rl::_where(none, wrapped_number(Scalar(1.0)), sums));
  return times(v, times(inner, mH(v)));
}

// exp of [[A^H, G], [0, A^H]] has the gradient in its upper right block (Higham 2008, ch. 3).
Tensor matrix_exp_grad(const Tensor& grad, const Tensor& a) {
  const int64_t n = a.size(-1);
  const Tensor h = mH(a);
  const Tensor top = rl::cat(std::vector<Tensor>{h, grad}, -1);
  const Tensor bottom = rl::cat(std::vector<Tensor>{zeros_of(h), h}, -1);
  const Tensor e = rl::linalg_matrix_exp(rl::cat(std::vector<Tensor>{top, bottom}, -2));
  return columns(rows(e, 0, n), n, 2 * n);
}

}  // namespace rl
