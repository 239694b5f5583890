// Recurrent networks: layers, directions, packed batches; a step is a matrix product and a fused
// cell.
#include <algorithm>
#include <functional>
#include <vector>

#include "gen/ops/create.h"
#include "gen/ops/activation.h"
#include "gen/ops/arith.h"
#include "gen/ops/join.h"
#include "gen/ops/math.h"
#include "gen/ops/matmul.h"
#include "gen/ops/random.h"
#include "gen/ops/rnn.h"
#include "gen/ops/views.h"
#include "ops/backward.h"
#include "ops/formula.h"

namespace rl {

// ---- gradients of the fused steps. While a graph of the gradient is wanted, the same in plain
// operators, from the sums themselves.

std::tuple<Tensor, Tensor, Tensor> lstm_step_grad(const Tensor& gh, const Tensor& gc,
                                                  const Tensor& a, const Tensor& b,
                                                  const Tensor& c0, const Tensor& c,
                                                  const Tensor& gates) {
  if (!grad_enabled()) {
    auto [dsum, dc0] = rl::_lstm_step_backward(gates, c0, c, gh, gc);
    return {dsum, dsum, dc0};
  }
  const std::vector<Tensor> s = rl::chunk(a + b, 4, 1);
  const Tensor i = rl::sigmoid(s[0]), f = rl::sigmoid(s[1]), g = rl::tanh(s[2]);
  const Tensor o = rl::sigmoid(s[3]), t = rl::tanh(f * c0 + i * g);
  const Scalar one(1.0);
  const Tensor d = gc + gh * o * (one - t * t);
  const Tensor dsum = rl::cat(std::vector<Tensor>{d * g * i * (one - i), d * c0 * f * (one - f),
                                                  d * i * (one - g * g), gh * t * o * (one - o)},
                              1);
  return {dsum, dsum, d * f};
}

std::tuple<Tensor, Tensor, Tensor> gru_step_grad(const Tensor& gh, const Tensor& a, const Tensor& b,
                                                 const Tensor& h0, const Tensor& gates) {
  if (!grad_enabled()) return rl::_gru_step_backward(gates, h0, gh);
  const std::vector<Tensor> x = rl::chunk(a, 3, 1), y = rl::chunk(b, 3, 1);
  const Tensor r = rl::sigmoid(x[0] + y[0]), z = rl::sigmoid(x[1] + y[1]);
  const Tensor m = rl::tanh(x[2] + r * y[2]);
  const Scalar one(1.0);
  const Tensor dm = gh * (one - z) * (one - m * m), dz = gh * (h0 - m) * z * (one - z);
  const Tensor dr = dm * y[2] * r * (one - r);
  return {rl::cat(std::vector<Tensor>{dr, dz, dm}, 1),
          rl::cat(std::vector<Tensor>{dr, dz, dm * r}, 1), gh * z};
}

namespace composite {
namespace {

enum class Kind { Lstm, Gru, Tanh, Relu };

struct Weights {
  Tensor ih, hh, b_ih, b_hh, hr;  // hr: the projection of an LSTM, or none
};
struct State {
  Tensor h, c;
};

Tensor linear_of(const Tensor& x, const Tensor& w, const Tensor& b) { return rl::linear(x, w, b); }

// Inside autocast the products are of a smaller type than the state, which keeps its own.
Tensor in_type_of(const Tensor& sums, const Tensor& state) {
  return sums.dtype() == state.dtype() ? sums : rl::to(sums, state.dtype());
}

// One step from the input's part of the sums.
State step(Kind kind, const Tensor& from_input, const State& s, const Weights& w) {
  const Tensor from_state = linear_of(s.h, w.hh, w.b_hh);
  switch (kind) {
    case Kind::Lstm: {
      auto [h, c, gates] =
          rl::_lstm_step(in_type_of(from_input, s.c), in_type_of(from_state, s.c), s.c);
      return {w.hr.defined() ? linear_of(h, w.hr, Tensor()) : h, c};
    }
    case Kind::Gru:
      return {std::get<0>(rl::_gru_step(in_type_of(from_input, s.h), in_type_of(from_state, s.h),
                                        s.h)),
              Tensor()};
    case Kind::Tanh: return {rl::tanh(from_input + from_state), Tensor()};
    default: return {rl::relu(from_input + from_state), Tensor()};
  }
}

struct Run {
  Tensor output;
  State last;
};

// (T, B, F) in one direction.
Run run_padded(Kind kind, const Tensor& input, State s, const Weights& w, bool reverse) {
  std::vector<Tensor> steps = rl::unbind(linear_of(input, w.ih, w.b_ih), 0);
  const size_t n = steps.size();
  std::vector<Tensor> out(n);
  for (size_t k = 0; k < n; ++k) {
    const size_t t = reverse ? n - 1 - k : k;
    s = step(kind, steps[t], s, w);
    out[t] = s.h;
  }
  return {rl::stack(out, 0), s};
}

State first_rows(const State& s, int64_t n) {
  return {rl::narrow(s.h, 0, 0, n), s.c.defined() ? rl::narrow(s.c, 0, 0, n) : s.c};
}
State rows_between(const State& s, int64_t from, int64_t to) {
  return {rl::narrow(s.h, 0, from, to - from),
          s.c.defined() ? rl::narrow(s.c, 0, from, to - from) : s.c};
}
State join(const std::vector<State>& parts) {
  if (parts.size() == 1) return parts[0];
  std::vector<Tensor> h, c;
  for (const State& s : parts) {
    h.push_back(s.h);
    if (s.c.defined()) c.push_back(s.c);
  }
  return {rl::cat(h, 0), c.empty() ? Tensor() : rl::cat(c, 0)};
}

// Packed sequences, longest first: a step's batch only shrinks with time.
Run run_packed(Kind kind, const Tensor& data, const std::vector<int64_t>& sizes, State s,
               const Weights& w, bool reverse) {
  const std::vector<Tensor> steps =
      rl::split_with_sizes(linear_of(data, w.ih, w.b_ih), IntRef(sizes), 0);
  const size_t n = steps.size();
  std::vector<Tensor> out(n);
  std::vector<State> finished;  // shortest sequences first
  const State initial = s;
  int64_t active = sizes[reverse ? n - 1 : 0];
  s = first_rows(initial, active);
  for (size_t k = 0; k < n; ++k) {
    const size_t t = reverse ? n - 1 - k : k;
    if (sizes[t] < active) {
      finished.push_back(rows_between(s, sizes[t], active));
      s = first_rows(s, sizes[t]);
    } else if (sizes[t] > active) {
      s = join({s, rows_between(initial, active, sizes[t])});
    }
    active = sizes[t];
    s = step(kind, steps[t], s, w);
    out[t] = s.h;
  }
  finished.push_back(s);
  std::reverse(finished.begin(), finished.end());
  return {rl::cat(out, 0), join(finished)};
}

using Direction = std::function<Run(const Tensor&, const State&, const Weights&, bool)>;

struct Network {
  Kind kind;
  TensorList params;
  bool biases;
  int64_t layers;
  double dropout;
  bool train, bidirectional, projected = false;
};

std::vector<Weights> split_weights(const Network& net) {
  const size_t each = (net.biases ? 4u : 2u) + (net.projected ? 1u : 0u);
  check(net.params.size() % each == 0, "MatrixRef: ArrayRef size ", net.params.size(),
        " not divisible by stride ", each);
  std::vector<Weights> out;
  for (size_t i = 0; i < net.params.size(); i += each) {
    Weights w{net.params[i], net.params[i + 1], Tensor(), Tensor(), Tensor()};
    if (net.biases) w.b_ih = net.params[i + 2], w.b_hh = net.params[i + 3];
    if (net.projected) w.hr = net.params[i + each - 1];
    out.push_back(w);
  }
  return out;
}

// All layers and directions; `h` and `c` are (layers * directions, B, H).
std::tuple<Tensor, Tensor, Tensor> run_network(const Network& net, Tensor x, const Tensor& h,
                                               const Tensor& c, const Direction& direction) {
  const std::vector<Weights> weights = split_weights(net);
  const size_t ways = net.bidirectional ? 2 : 1;
  check(weights.size() == size_t(net.layers) * ways, "Expected ", net.layers * int64_t(ways),
        " sets of weights, but got ", weights.size());
  const std::vector<Tensor> hs = rl::unbind(h, 0);
  const std::vector<Tensor> cs = c.defined() ? rl::unbind(c, 0) : std::vector<Tensor>();
  std::vector<Tensor> last_h, last_c;
  for (size_t layer = 0; layer < size_t(net.layers); ++layer) {
    std::vector<Tensor> outputs;
    for (size_t way = 0; way < ways; ++way) {
      const size_t i = layer * ways + way;
      const State s{hs[i], cs.empty() ? Tensor() : cs[i]};
      Run r = direction(x, s, weights[i], way == 1);
      outputs.push_back(r.output);
      last_h.push_back(r.last.h);
      if (!cs.empty()) last_c.push_back(r.last.c);
    }
    x = outputs.size() == 1 ? outputs[0] : rl::cat(outputs, -1);
    if (net.dropout != 0 && net.train && layer + 1 < size_t(net.layers))
      x = rl::dropout(x, net.dropout, true);
  }
  return {x, rl::stack(last_h, 0), last_c.empty() ? Tensor() : rl::stack(last_c, 0)};
}

std::tuple<Tensor, Tensor, Tensor> run_batch(const Network& net, const Tensor& input,
                                             const Tensor& h, const Tensor& c, bool batch_first) {
  check(input.dim() != 3 || input.size(batch_first ? 1 : 0) > 0,
        "Expected sequence length to be larger than 0 in RNN");
  const Direction d = [&](const Tensor& x, const State& s, const Weights& w, bool reverse) {
    return run_padded(net.kind, x, s, w, reverse);
  };
  auto [out, hn, cn] = run_network(net, batch_first ? rl::transpose(input, 0, 1) : input, h, c, d);
  return {batch_first ? rl::transpose(out, 0, 1) : out, hn, cn};
}

std::tuple<Tensor, Tensor, Tensor> run_data(const Network& net, const Tensor& data,
                                            const Tensor& batch_sizes, const Tensor& h,
                                            const Tensor& c) {
  check(
      batch_sizes.dim() == 1 && batch_sizes.dtype() == DType::Int64 && batch_sizes.is_contiguous(),
      "batch_sizes should be a 1-D contiguous int64 tensor");
  check(batch_sizes.device().is_cpu(), "batch_sizes must be on the cpu device, not on ",
        batch_sizes.device());
  const int64_t* p = batch_sizes.data<int64_t>();
  const std::vector<int64_t> sizes(p, p + batch_sizes.numel());
  check(!sizes.empty(), "batch_sizes must not be empty");
  const Direction d = [&](const Tensor& x, const State& s, const Weights& w, bool reverse) {
    return run_packed(net.kind, x, sizes, s, w, reverse);
  };
  return run_network(net, data, h, c, d);
}

Network lstm_network(TensorList hx, TensorList params, bool biases, int64_t layers, double dropout,
                     bool train, bool bidirectional) {
  check(hx.size() == 2, "lstm expects two hidden states");
  Network net{Kind::Lstm, params, biases, layers, dropout, train, bidirectional};
  net.projected = hx[0].size(2) != hx[1].size(2);
  return net;
}

std::tuple<Tensor, Tensor> first_two(std::tuple<Tensor, Tensor, Tensor>&& t) {
  return {std::get<0>(t), std::get<1>(t)};
}

// Checks of the cells.
Weights cell_weights(const Tensor& input, const Tensor& h, const Tensor& ih, const Tensor& hh,
                     const Tensor& b_ih, const Tensor& b_hh) {
  check(input.size(-1) == ih.size(1), "input has inconsistent input_size: got ", input.size(-1),
        " expected ", ih.size(1));
  check(input.size(0) == h.size(0) || input.dim() == 1, "Input batch size ", input.size(0),
        " doesn't match hidden0 batch size ", h.size(0));
  check(h.size(-1) == hh.size(1), "hidden0 has inconsistent hidden_size: got ", h.size(-1),
        ", expected ", hh.size(1));
  return {ih, hh, b_ih, b_hh, Tensor()};
}

Tensor simple_cell(Kind kind, const Tensor& input, const Tensor& hx, const Tensor& ih,
                   const Tensor& hh, const Tensor& b_ih, const Tensor& b_hh) {
  const Weights w = cell_weights(input, hx, ih, hh, b_ih, b_hh);
  return step(kind, linear_of(input, ih, b_ih), {hx, Tensor()}, w).h;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm_input(const Tensor& input, TensorList hx, TensorList params,
                                              bool biases, int64_t layers, double dropout,
                                              bool train, bool bidirectional, bool batch_first) {
  const Network net = lstm_network(hx, params, biases, layers, dropout, train, bidirectional);
  return run_batch(net, input, hx[0], hx[1], batch_first);
}
std::tuple<Tensor, Tensor, Tensor> lstm_data(const Tensor& data, const Tensor& batch_sizes,
                                             TensorList hx, TensorList params, bool biases,
                                             int64_t layers, double dropout, bool train,
                                             bool bidirectional) {
  const Network net = lstm_network(hx, params, biases, layers, dropout, train, bidirectional);
  return run_data(net, data, batch_sizes, hx[0], hx[1]);
}

#define RL_RNN(NAME, KIND)                                                                        \
  std::tuple<Tensor, Tensor> NAME##_input(const Tensor& input, const Tensor& hx,                  \
                                          TensorList params, bool biases, int64_t layers,         \
                                          double dropout, bool train, bool bidirectional,         \
                                          bool batch_first) {                                     \
    const Network net{Kind::KIND, params, biases, layers, dropout, train, bidirectional};         \
    return first_two(run_batch(net, input, hx, Tensor(), batch_first));                           \
  }                                                                                               \
  std::tuple<Tensor, Tensor> NAME##_data(const Tensor& data, const Tensor& batch_sizes,           \
                                         const Tensor& hx, TensorList params, bool biases,        \
                                         int64_t layers, double dropout, bool train,              \
                                         bool bidirectional) {                                    \
    const Network net{Kind::KIND, params, biases, layers, dropout, train, bidirectional};         \
    return first_two(run_data(net, data, batch_sizes, hx, Tensor()));                             \
  }
RL_RNN(gru, Gru)
RL_RNN(rnn_tanh, Tanh)
RL_RNN(rnn_relu, Relu)
#undef RL_RNN

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& ih,
                                     const Tensor& hh, const Tensor& b_ih, const Tensor& b_hh) {
  check(hx.size() == 2, "lstm_cell expects two hidden states");
  const Weights w = cell_weights(input, hx[0], ih, hh, b_ih, b_hh);
  const State s = step(Kind::Lstm, linear_of(input, ih, b_ih), {hx[0], hx[1]}, w);
  return {s.h, s.c};
}
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& ih, const Tensor& hh,
                const Tensor& b_ih, const Tensor& b_hh) {
  return simple_cell(Kind::Gru, input, hx, ih, hh, b_ih, b_hh);
}
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& ih, const Tensor& hh,
                     const Tensor& b_ih, const Tensor& b_hh) {
  return simple_cell(Kind::Tanh, input, hx, ih, hh, b_ih, b_hh);
}
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& ih, const Tensor& hh,
                     const Tensor& b_ih, const Tensor& b_hh) {
  return simple_cell(Kind::Relu, input, hx, ih, hh, b_ih, b_hh);
}

}  // namespace composite
}  // namespace rl
