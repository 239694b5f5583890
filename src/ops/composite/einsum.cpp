// Einstein's summation: the equation is read into label numbers, every operand gets one dimension
// per label, and operands are contracted two at a time by batched matrix products.
#include <algorithm>
#include <cctype>
#include <vector>

#include "gen/ops/arith.h"
#include "gen/ops/matmul.h"
#include "gen/ops/reduce.h"
#include "gen/ops/views.h"
#include "ops/formula.h"

namespace rl::composite {
namespace {

constexpr int kLetters = 52, kEllipsis = 52;

int letter(char c) { return c >= 'a' ? 26 + c - 'a' : c - 'A'; }
char name_of(int label) { return char(label < 26 ? 'A' + label : 'a' + label - 26); }

struct Equation {
  std::vector<std::vector<int>> operands;  // labels; kEllipsis stands for "..."
  std::vector<int> output;
  bool explicit_output = false;
};

// The labels of one operand or of the output, up to ',' or "->".
std::vector<int> read_labels(std::string_view eq, size_t& i, size_t operand, bool output) {
  const std::string where = output ? "output" : str("operand ", operand);
  std::vector<int> labels;
  bool ellipsis = false;
  for (; i < eq.size(); ++i) {
    const char c = eq[i];
    if (c == ' ') continue;
    if (c == '.') {
      check(!ellipsis, "einsum(): found '.' for ", where,
            " for which an ellipsis was already found");
      check(eq.substr(i, 3) == "...", "einsum(): found '.' for ", where,
            " that is not part of any ellipsis", output ? " (...)" : "");
      i += 2;
      ellipsis = true;
      labels.push_back(kEllipsis);
    } else if (!output && (c == ',' || (c == '-' && eq.substr(i, 2) == "->"))) {
      return labels;
    } else {
      check(std::isalpha(static_cast<unsigned char>(c)),
            "einsum(): invalid subscript given at index ", i,
            " in the equation string, subscripts must be in [a-zA-Z]");
      labels.push_back(letter(c));
    }
  }
  return labels;
}

Equation parse(std::string_view eq, size_t count) {
  Equation e;
  size_t i = 0;
  while (true) {
    e.operands.push_back(read_labels(eq, i, e.operands.size(), false));
    if (i >= eq.size()) break;
    if (eq[i] == '-') {
      i += 2;
      e.explicit_output = true;
      e.output = read_labels(eq, i, 0, true);
      break;
    }
    check(e.operands.size() < count, "einsum(): fewer operands were provided than specified in the "
          "equation");
    ++i;
  }
  check(e.operands.size() >= count, "einsum(): more operands were provided than specified in the "
        "equation");
  check(e.operands.size() <= count, "einsum(): fewer operands were provided than specified in the "
        "equation");
  return e;
}

struct Layout {
  int ellipsis_dims = 0, dims = 0, outputs = 0;
  int place[kLetters];      // label -> dimension, -1: absent
  int ellipsis_place = 0;
};

// Output labels come first, then the ones to sum.
Layout arrange(Equation& e, TensorList tensors) {
  Layout l;
  int seen[kLetters] = {};
  bool any_ellipsis = false;
  for (size_t k = 0; k < e.operands.size(); ++k) {
    const auto& labels = e.operands[k];
    const bool has = std::count(labels.begin(), labels.end(), kEllipsis) > 0;
    const int64_t named = int64_t(labels.size()) - has, dims = tensors[k].dim();
    if (has) {
      check(named <= dims, "einsum(): the number of subscripts in the equation (", named,
            ") is more than the number of dimensions (", dims, ") for operand ", k);
      l.ellipsis_dims = std::max(l.ellipsis_dims, int(dims - named));
    } else {
      check(named == dims, "einsum(): the number of subscripts in the equation (", named,
            ") does not match the number of dimensions (", dims, ") for operand ", k,
            " and no ellipsis was given");
    }
    any_ellipsis = any_ellipsis || has;
    for (int x : labels)
      if (x != kEllipsis) ++seen[x];
  }
  if (!e.explicit_output) {
    if (any_ellipsis) e.output.push_back(kEllipsis);
    for (int x = 0; x < kLetters; ++x)
      if (seen[x] == 1) e.output.push_back(x);
  }
  std::fill(l.place, l.place + kLetters, -1);
  bool placed_ellipsis = false;
  for (int x : e.output) {
    if (x == kEllipsis) {
      l.ellipsis_place = l.dims;
      l.dims += l.ellipsis_dims;
      placed_ellipsis = true;
      continue;
    }
    check(l.place[x] < 0, "einsum(): output subscript ", name_of(x),
          " appears more than once in the output");
    check(seen[x] > 0, "einsum(): output subscript ", name_of(x),
          " does not appear in the equation for any input operand");
    l.place[x] = l.dims++;
  }
  l.outputs = l.dims;
  if (!placed_ellipsis) {
    l.ellipsis_place = l.dims;
    l.dims += l.ellipsis_dims;
  }
  for (int x = 0; x < kLetters; ++x)
    if (seen[x] && l.place[x] < 0) l.place[x] = l.dims++;
  return l;
}

// An operand with all dimensions of the layout; those it lacks have size 1. Repeated labels become
// diagonals.
Tensor spread(Tensor t, const std::vector<int>& labels, const Layout& l, size_t operand) {
  std::vector<int> at;  // dimension of t -> dimension of the layout
  const int own = int(t.dim()) - int(labels.size()) + 1;
  for (int x : labels) {
    if (x != kEllipsis) {
      at.push_back(l.place[x]);
      continue;
    }
    for (int i = 0; i < own; ++i) at.push_back(l.ellipsis_place + l.ellipsis_dims - own + i);
  }
  for (size_t i = 0; i < at.size(); ++i)
    for (size_t j = i + 1; j < at.size();) {
      if (at[j] != at[i]) {
        ++j;
        continue;
      }
      const int64_t a = t.size(int64_t(i)), b = t.size(int64_t(j));
      char label = '?';
      for (int x = 0; x < kLetters; ++x)
        if (l.place[x] == at[i]) label = name_of(x);
      check(a == b, "einsum(): subscript ", label, " is repeated for operand ", operand,
            " but the sizes don't match, ", b, " != ", a);
      t = rl::movedim(rl::diagonal(t, 0, int64_t(i), int64_t(j)), {-1}, {int64_t(i)});
      at.erase(at.begin() + int64_t(j));
    }
  Dims order, sizes;
  for (int d = 0; d < l.dims; ++d) {
    const auto found = std::find(at.begin(), at.end(), d);
    if (found == at.end()) {
      sizes.push_back(1);
      continue;
    }
    order.push_back(found - at.begin());
    sizes.push_back(t.size(found - at.begin()));
  }
  t = rl::permute(t, order);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (std::find(at.begin(), at.end(), int(d)) == at.end()) t = rl::unsqueeze(t, int64_t(d));
  }
  return t;
}

void check_sizes(const std::vector<Tensor>& t, const Layout& l) {
  for (int d = 0; d < l.dims; ++d) {
    int64_t size = 1;
    for (size_t k = 0; k < t.size(); ++k) {
      const int64_t s = t[k].size(d);
      if (s == 1) continue;
      char label = '.';
      for (int x = 0; x < kLetters; ++x)
        if (l.place[x] == d) label = name_of(x);
      check(size == 1 || size == s, "einsum(): subscript ", label, " has size ", s, " for operand ",
            k, " which does not broadcast with previously seen size ", size);
      size = s;
    }
  }
}

// The product of two operands, summed over the dimensions in `sum`, which keep size 1.
Tensor contract(Tensor a, Tensor b, std::vector<bool> sum) {
  Dims both, left, right, common, sizes;
  int64_t n_both = 1, n_left = 1, n_right = 1, n_common = 1;
  for (int64_t d = 0; d < a.dim(); ++d) {
    const bool in_a = a.size(d) != 1, in_b = b.size(d) != 1;
    if (sum[size_t(d)] && in_a != in_b) {  // only one has it: sum before multiplying
      if (in_a) a = rl::sum(a, IntRef({d}), true, std::nullopt);
      else b = rl::sum(b, IntRef({d}), true, std::nullopt);
    }
    const int64_t s = a.size(d) == 1 ? b.size(d) : a.size(d);
    if (sum[size_t(d)]) {
      common.push_back(d), n_common *= s;
      sizes.push_back(1);
      continue;
    }
    sizes.push_back(s);
    if (in_a && in_b) both.push_back(d), n_both *= s;
    else if (in_a) left.push_back(d), n_left *= s;
    else right.push_back(d), n_right *= s;
  }
  auto concat = [](std::initializer_list<const Dims*> parts) {
    Dims out;
    for (const Dims* p : parts)
      for (int64_t d : *p) out.push_back(d);
    return out;
  };
  const Tensor x = rl::reshape(rl::permute(a, concat({&both, &left, &common, &right})),
                               {n_both, n_left, n_common});
  const Tensor y = rl::reshape(rl::permute(b, concat({&both, &common, &right, &left})),
                               {n_both, n_common, n_right});
  const Dims order = concat({&both, &left, &right, &common});
  Dims shape, back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    shape.push_back(sizes[size_t(order[i])]);
    back[size_t(order[i])] = int64_t(i);
  }
  return rl::permute(rl::view(rl::bmm(x, y), shape), back);
}

double elements(const Tensor& a, const Tensor* b) {
  double n = 1;
  for (int64_t d = 0; d < a.dim(); ++d)
    n *= double(b ? std::max(a.size(d), b->size(d)) : a.size(d));
  return n;
}

// Greedy: the pair whose result exceeds its operands least, as in the usual tree heuristics.
std::pair<size_t, size_t> best_pair(const std::vector<Tensor>& t, const Layout& l) {
  std::pair<size_t, size_t> best{0, 1};
  double least = INFINITY;
  for (size_t i = 0; i < t.size(); ++i)
    for (size_t j = i + 1; j < t.size(); ++j) {
      double n = elements(t[i], &t[j]);
      for (int64_t d = l.outputs; d < l.dims; ++d) {
        bool elsewhere = false;
        for (size_t k = 0; k < t.size(); ++k)
          elsewhere = elsewhere || (k != i && k != j && t[k].size(d) != 1);
        if (!elsewhere) n /= double(std::max<int64_t>({t[i].size(d), t[j].size(d), 1}));
      }
      n -= elements(t[i], nullptr) + elements(t[j], nullptr);
      if (n < least) least = n, best = {i, j};
    }
  return best;
}

}  // namespace

Tensor einsum(std::string_view equation, TensorList tensors, std::optional<IntRef> path) {
  check(!tensors.empty(), "einsum(): must provide at least one operand");
  Equation e = parse(equation, tensors.size());
  const Layout l = arrange(e, tensors);
  std::vector<Tensor> t;
  for (size_t k = 0; k < tensors.size(); ++k) t.push_back(spread(tensors[k], e.operands[k], l, k));
  check_sizes(t, l);
  check(!path || path->size() == 2 * (tensors.size() - 1) || tensors.size() == 1,
        "einsum(): expected contraction path given in path parameter to have size ",
        2 * (tensors.size() - 1), " but got ", path ? path->size() : 0);
  for (size_t step = 0; t.size() > 1; ++step) {
    auto [i, j] = t.size() == 2 ? std::pair<size_t, size_t>{0, 1} : best_pair(t, l);
    if (path) i = size_t((*path)[2 * step]), j = size_t((*path)[2 * step + 1]);
    if (i > j) std::swap(i, j);
    check(i < j && j < t.size(), "einsum(): invalid contraction path (", i, ", ", j, ")");
    const Tensor a = t[i], b = t[j];
    t.erase(t.begin() + int64_t(j));
    t.erase(t.begin() + int64_t(i));
    std::vector<bool> sum(size_t(l.dims), false);
    for (int64_t d = l.outputs; d < l.dims; ++d) {
      sum[size_t(d)] = a.size(d) != 1 || b.size(d) != 1;
      for (const Tensor& other : t)
        if (other.size(d) != 1) sum[size_t(d)] = false;
    }
    t.push_back(contract(a, b, sum));
  }
  Tensor out = t[0];
  Dims rest, sizes(out.sizes().slice(0, size_t(l.outputs)));
  for (int64_t d = l.outputs; d < l.dims; ++d) rest.push_back(d);
  if (rest.empty()) return out;
  bool singles = true;
  for (int64_t d : rest) singles = singles && out.size(d) == 1;
  if (singles) return rl::squeeze(out, rest);
  return rl::sum(out, IntRef(rest), false, std::nullopt);
}

}  // namespace rl::composite
