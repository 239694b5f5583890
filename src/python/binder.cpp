// Table-driven argument binding: positional arguments by kind checks only, keywords by interned
// pointers. Errors are worked out on a separate slow path (bind_errors.cpp).
#include "python/binder.h"

#include "python/accepts.h"
#include "python/errors.h"

namespace rl::py {
namespace {

thread_local PyObject* bound_result = nullptr;

// Tuples made for x.view(2, 3): kept alive until the slot comes round again. Conversion follows
// binding at once, so a short ring is enough.
struct Keep {
  static constexpr int kSlots = 16;
  PyObject* items[kSlots] = {};
  int next = 0;
  PyObject* put(PyObject* o) {
    PyObject* old = items[next];
    items[next] = o;
    next = (next + 1) % kSlots;
    Py_XDECREF(old);
    return o;
  }
};
thread_local Keep keep;

PyObject* tuple_of(PyObject* const* args, Py_ssize_t n) {
  PyObject* t = PyTuple_New(n);
  if (!t) throw_python_error();
  for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(t, i, new_ref(args[i]));
  return t;
}

void intern_names(const Signature& s) {
  for (int i = 0; i < s.num; ++i)
    if (!s.params[i].interned) s.params[i].interned = PyUnicode_InternFromString(s.params[i].name);
}

// Spellings of NumPy that PyTorch takes as well.
bool other_spelling(const Param& p, PyObject* keyword) {
  auto is = [&](const char* s) { return PyUnicode_CompareWithASCIIString(keyword, s) == 0; };
  if (p.alias && is(p.alias)) return true;
  std::string_view name = p.name;
  if (name == "input") return is("x") || is("a") || is("x1");
  if (name == "other") return is("x2");
  if (name == "dim") return is("axis");
  if (name == "keepdim") return is("keepdims");
  return false;
}

struct Call {
  PyObject* self;
  PyObject* const* args;
  Py_ssize_t nargs;
  PyObject* kwnames;
  bool method;
  bool numbers = false;  // see numbers_allowed
};

// x.view(2, 3): an int at the place of a list takes all the positional arguments that are left.
bool gathers(const Signature& s, int i, const Call& c, Py_ssize_t a) {
  if (!s.varargs_ints || i != s.varargs_at) return false;
  PyObject* first = c.args[a];
  if (PyTuple_Check(first) || PyList_Check(first)) return false;
  return is_int_like(first) || (c.method && c.nargs > a + 1 && overrides_from_outside(first));
}

bool all_ints(const Call& c, Py_ssize_t from, Overriding& who) {
  for (Py_ssize_t a = from; a < c.nargs; ++a) {
    if (is_int_like(c.args[a])) continue;
    if (!overrides_from_outside(c.args[a])) return false;
    who.add(c.args[a]);
  }
  return true;
}

bool match_keywords(const Signature& s, const Call& c, int from, int first, PyObject** v,
                    Overriding& who) {
  Py_ssize_t nkw = PyTuple_GET_SIZE(c.kwnames);
  for (Py_ssize_t k = 0; k < nkw; ++k) {
    int i = find_parameter(s, PyTuple_GET_ITEM(c.kwnames, k));
    if (i < first || i < from || v[i]) return false;
    PyObject* value = c.args[c.nargs + k];
    if (!accepts(s.params[i], value, who)) return false;
    v[i] = value;
  }
  return true;
}

// torch.add(1, x): arithmetic takes a number for its first tensor, too.
bool numbers_allowed(const Overloads& o) {
  static const std::string_view names[] = {"add", "sub", "mul", "div", "divide", "multiply",
                                           "subtract", "true_divide", "floor_divide"};
  for (auto n : names)
    if (n == o.name) return true;
  return false;
}

PyObject* number_as_tensor(PyObject* o) {
  return keep.put(wrap(wrapped_number(to_scalar(o))));
}

bool is_out(const Param& p) { return p.kind == Kind::Out || p.kind == Kind::OutTuple; }

// torch.pow(2, 3) is no call of an operator: one operand at least is a tensor.
bool any_tensor(const Signature& s, PyObject* const* v) {
  for (int i = 0; i < s.num; ++i)
    if (v[i] && (s.params[i].kind == Kind::Operand || s.params[i].kind == Kind::Tensor) &&
        !PyLong_Check(v[i]) && !PyFloat_Check(v[i]) && !PyComplex_Check(v[i]) &&
        !is_numpy_scalar(v[i]))
      return true;
  return false;
}

bool match(const Signature& s, const Call& c, PyObject** v, Overriding& who) {
  const Param* p = s.params;
  int first = c.method ? 1 : 0, i = first;
  Py_ssize_t a = 0;
  for (; i < s.max_positional && a < c.nargs; ++i, ++a) {
    PyObject* o = c.args[a];
    if (gathers(s, i, c, a)) {
      if (!all_ints(c, a, who)) return false;
      v[i++] = keep.put(tuple_of(c.args + a, c.nargs - a));
      a = c.nargs;
      break;
    }
    if (!accepts(p[i], o, who)) {
      if (!c.numbers || p[i].kind != Kind::Tensor || !is_number_like(o)) return false;
      o = number_as_tensor(o);
    }
    v[i] = o;
  }
  if (a < c.nargs) return false;
  for (int j = i; j < s.num; ++j) v[j] = nullptr;
  if (c.kwnames && !match_keywords(s, c, i, first, v, who)) return false;
  for (int j = i; j < s.num; ++j) {
    if (!v[j] && !p[j].has_default) return false;
    if (v[j] == Py_None && is_out(p[j])) v[j] = nullptr;
  }
  if (!c.method && s.num && p[0].kind == Kind::Operand && !any_tensor(s, v)) return false;
  if (c.method) {
    v[0] = c.self;
    if (!is_exact_tensor(c.self) && overrides(c.self)) who.add(c.self);
  }
  return true;
}

// A later signature that takes the arguments as they are; -1 if there is none.
int match_uncoerced(const Overloads& o, int from, const Call& c, PyObject** v, Overriding& who) {
  for (int i = from; i < o.num; ++i) {
    Overriding other;
    if (match(o.sigs[i], c, v, other) && !other.coerced) {
      who = other;
      return i;
    }
  }
  return -1;
}

[[gnu::noinline]] int dispatch(const Overloads& o, const Call& c, const Overriding& who) {
  if (!o.public_function) o.public_function = resolve_qualified(o.qualified);
  if (!o.public_function) return kHandled;
  Py_ssize_t shift = c.method ? 1 : 0;
  Ref args = owned(PyTuple_New(c.nargs + shift));
  if (c.method) PyTuple_SET_ITEM(args.get(), 0, new_ref(c.self));
  for (Py_ssize_t i = 0; i < c.nargs; ++i)
    PyTuple_SET_ITEM(args.get(), i + shift, new_ref(c.args[i]));
  Ref kwargs = owned(PyDict_New());
  if (c.kwnames)
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(c.kwnames); ++k)
      check_python(PyDict_SetItem(kwargs.get(), PyTuple_GET_ITEM(c.kwnames, k),
                                  c.args[c.nargs + k]) == 0);
  bound_result = call_torch_function(who, o.public_function, args.get(), kwargs.get(),
                                     o.qualified);
  return kHandled;
}

}  // namespace

int find_parameter(const Signature& s, PyObject* keyword) {
  for (int i = 0; i < s.num; ++i)
    if (s.params[i].interned == keyword) return i;
  if (!PyUnicode_Check(keyword)) return -1;
  for (int i = 0; i < s.num; ++i) {
    if (s.params[i].interned && PyUnicode_Compare(s.params[i].interned, keyword) == 0) return i;
    if (other_spelling(s.params[i], keyword)) return i;
  }
  return -1;
}

int bind(const Overloads& o, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
         PyObject* kwnames, PyObject** v) {
  Call c{self, args, nargs, kwnames, o.method, false};
  for (int i = 0; i < o.num; ++i) {
    const Signature& s = o.sigs[i];
    if (kwnames && s.num && !s.params[s.num - 1].interned) intern_names(s);
    Overriding who;
    if (!match(s, c, v, who)) continue;
    if (who.coerced && i + 1 < o.num) [[unlikely]] {
      int better = match_uncoerced(o, i + 1, c, v, who);
      if (better < 0) match(s, c, v, who);
      else i = better;
    }
    if (who.any() || function_state.modes_on) [[unlikely]] return dispatch(o, c, who);
    return i;
  }
  for (int i = 0; i < o.num; ++i) intern_names(o.sigs[i]);
  if (!c.method && !c.numbers && nargs && numbers_allowed(o)) {
    Call again = c;
    again.numbers = true;
    for (int i = 0; i < o.num; ++i) {
      Overriding who;
      if (match(o.sigs[i], again, v, who)) return i;
    }
  }
  set_bind_error(o, self, args, nargs, kwnames);
  return kHandled;
}

PyObject* take_bound_result() { return std::exchange(bound_result, nullptr); }

}  // namespace rl::py
