// Steps of LSTM and GRU: everything after the matrix products, in one pass.
#include <algorithm>

#include "base/parallel.h"
#include "kernels/cpu/rnn.h"
#include "kernels/iter/copy.h"
#include "ops/native.h"

namespace rl::native {
namespace {

Tensor ready(const Tensor& t, DType d) { return contiguous_tensor(rl::to_dtype(t, d)); }

char* row(const Tensor& t, int64_t i, int64_t width) {
  return t.defined() ? static_cast<char*>(t.data()) + i * width * t.itemsize() : nullptr;
}

template <class F>
void for_rows(int64_t rows, int64_t hidden, F&& f) {
  parallel_for(0, rows, 1 + 2048 / (hidden + 1), f);
}

// A state of shape (rows, hidden) and what goes with it: `width` hidden sizes a row.
void check_state(const Tensor& state) {
  check(state.dim() == 2, "RNN step: expected a state of 2 dimensions, got sizes ", state.sizes());
}
void check_width(const Tensor& t, const Tensor& state, int64_t width, DType dtype) {
  if (!t.defined()) return;
  check(t.dim() == 2 && t.size(0) == state.size(0) && t.size(1) == width * state.size(1),
        "RNN step: sizes ", t.sizes(), " do not go with a state of sizes ", state.sizes());
  check(t.dtype() == dtype || dtype == DType::Undefined, "RNN step: expected scalar type ", dtype,
        " but found ", t.dtype());
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> _lstm_step(const Tensor& a, const Tensor& b, const Tensor& c0) {
  check_state(c0);
  for (const Tensor* t : {&a, &b}) check_width(*t, c0, 4, DType::Undefined);
  const DType d = a.dtype(), compute = opmath(d);
  const int64_t rows = c0.size(0), n = c0.size(1);
  Tensor gates = empty_tensor({rows, 4 * n}, compute, a.device());
  Tensor h = empty_tensor({rows, n}, compute, a.device()),
         c = empty_tensor({rows, n}, compute, a.device());
  if (!a.is_meta() && c.numel() > 0) {
    const Tensor x = ready(a, compute), y = ready(b, compute), z = ready(c0, compute);
    for_rows(rows, n, [&](int64_t begin, int64_t end) {
      cpu::lstm_step(compute, end - begin, n, row(x, begin, 4 * n), 4 * n, row(y, begin, 4 * n),
                     row(z, begin, n), row(gates, begin, 4 * n), row(h, begin, n),
                     row(c, begin, n));
    });
  }
  return {rl::to_dtype(h, d), rl::to_dtype(c, d), gates};
}

std::tuple<Tensor, Tensor> _lstm_step_backward(const Tensor& gates, const Tensor& c0,
                                               const Tensor& c, const Tensor& dh,
                                               const Tensor& dc) {
  check_state(c0);
  check_width(gates, c0, 4, opmath(gates.dtype()));
  for (const Tensor* t : {&c, &dh, &dc}) check_width(*t, c0, 1, DType::Undefined);
  const DType d = c0.dtype(), compute = gates.dtype();
  const int64_t rows = c0.size(0), n = c0.size(1);
  Tensor dsum = empty_tensor({rows, 4 * n}, compute, c0.device());
  Tensor dc0 = empty_tensor({rows, n}, compute, c0.device());
  if (!dsum.is_meta() && dc0.numel() > 0) {
    const Tensor x = ready(c0, compute), y = ready(c, compute);
    const Tensor gh = ready(dh, compute), gc = ready(dc, compute);
    for_rows(rows, n, [&](int64_t begin, int64_t end) {
      cpu::lstm_step_backward(compute, end - begin, n, row(gates, begin, 4 * n), row(x, begin, n),
                              row(y, begin, n), row(gh, begin, n), row(gc, begin, n),
                              row(dsum, begin, 4 * n), row(dc0, begin, n));
    });
  }
  return {rl::to_dtype(dsum, d), rl::to_dtype(dc0, d)};
}

std::tuple<Tensor, Tensor> _gru_step(const Tensor& a, const Tensor& b, const Tensor& h0) {
  check_state(h0);
  for (const Tensor* t : {&a, &b}) check_width(*t, h0, 3, DType::Undefined);
  const DType d = a.dtype(), compute = opmath(d);
  const int64_t rows = h0.size(0), n = h0.size(1);
  Tensor gates = empty_tensor({rows, 4 * n}, compute, a.device());
  Tensor h = empty_tensor({rows, n}, compute, a.device());
  if (!a.is_meta() && h.numel() > 0) {
    const Tensor x = ready(a, compute), y = ready(b, compute), z = ready(h0, compute);
    for_rows(rows, n, [&](int64_t begin, int64_t end) {
      cpu::gru_step(compute, end - begin, n, row(x, begin, 3 * n), 3 * n, row(y, begin, 3 * n),
                    row(z, begin, n), row(gates, begin, 4 * n), row(h, begin, n));
    });
  }
  return {rl::to_dtype(h, d), gates};
}

std::tuple<Tensor, Tensor, Tensor> _gru_step_backward(const Tensor& gates, const Tensor& h0,
                                                      const Tensor& dh) {
  check_state(h0);
  check_width(gates, h0, 4, opmath(gates.dtype()));
  check_width(dh, h0, 1, DType::Undefined);
  const DType d = h0.dtype(), compute = gates.dtype();
  const int64_t rows = h0.size(0), n = h0.size(1);
  Tensor da = empty_tensor({rows, 3 * n}, compute, h0.device());
  Tensor db = empty_tensor({rows, 3 * n}, compute, h0.device());
  Tensor dh0 = empty_tensor({rows, n}, compute, h0.device());
  if (!da.is_meta() && dh0.numel() > 0) {
    const Tensor x = ready(h0, compute), g = ready(dh, compute);
    for_rows(rows, n, [&](int64_t begin, int64_t end) {
      cpu::gru_step_backward(compute, end - begin, n, row(gates, begin, 4 * n), row(x, begin, n),
                             row(g, begin, n), row(da, begin, 3 * n), row(db, begin, 3 * n),
                             row(dh0, begin, n));
    });
  }
  return {rl::to_dtype(da, d), rl::to_dtype(db, d), rl::to_dtype(dh0, d)};
}

}  // namespace rl::native
