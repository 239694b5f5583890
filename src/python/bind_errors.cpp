// The TypeErrors of calls that fit no signature, in PyTorch's words.
#include <cstring>
#include <string>

#include "python/accepts.h"
#include "python/errors.h"

namespace rl::py {
namespace {

struct Call {
  const Overloads& o;
  PyObject* const* args;
  Py_ssize_t nargs;
  PyObject* kwnames;
  Py_ssize_t nkw() const { return kwnames ? PyTuple_GET_SIZE(kwnames) : 0; }
  int first() const { return o.method ? 1 : 0; }
};

std::string type_name(PyObject* o) {
  if (is_exact_tensor(o)) return "Tensor";
  const char* n = Py_TYPE(o)->tp_name;
  // Classes of extension modules carry their module in tp_name.
  if (is_tensor(o)) {
    const char* dot = std::strrchr(n, '.');
    return dot ? dot + 1 : n;
  }
  return n;
}

bool is_sequence(PyObject* o) { return PyTuple_Check(o) || PyList_Check(o); }

// "tuple of (int, str)": how a list is shown among the given arguments.
std::string given_name(PyObject* o) {
  if (!is_sequence(o)) return type_name(o);
  Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
  std::string s = PyTuple_Check(o) ? "tuple of (" : "list of (";
  if (n == 0) return PyTuple_Check(o) ? "tuple" : "list";
  bool same = true;
  for (Py_ssize_t i = 1; i < n; ++i)
    same &= Py_TYPE(PySequence_Fast_GET_ITEM(o, i)) == Py_TYPE(PySequence_Fast_GET_ITEM(o, 0));
  if (same) {
    std::string item = type_name(PySequence_Fast_GET_ITEM(o, 0));
    return std::string(PyTuple_Check(o) ? "tuple of " : "list of ") + item + "s";
  }
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (i) s += ", ";
    s += type_name(PySequence_Fast_GET_ITEM(o, i));
  }
  return s + (n == 1 ? ",)" : ")");
}

// "(Tensor input, *, Number alpha = 1)" from "add(Tensor input, *, Number alpha=1)"
std::string pretty(const Signature& s) {
  std::string_view t = s.text;
  size_t open = t.find('(');
  std::string out;
  for (char c : t.substr(open == std::string_view::npos ? 0 : open)) {
    if (c == '=' && !out.empty() && out.back() != ' ') out += " = ";
    else out += c;
  }
  return out;
}

std::string given(const Call& c) {
  std::string s;
  for (Py_ssize_t i = 0; i < c.nargs; ++i) {
    if (i) s += ", ";
    s += given_name(c.args[i]);
  }
  if (c.nkw() && c.nargs) s += ", ";
  for (Py_ssize_t k = 0; k < c.nkw(); ++k) {
    if (k) s += ", ";
    s += PyUnicode_AsUTF8(PyTuple_GET_ITEM(c.kwnames, k));
    s += "=" + given_name(c.args[c.nargs + k]);
  }
  if (c.nkw() && !c.nargs) s += ", ";
  return s;
}

// Functions that still have a second, deprecated order of arguments in PyTorch say it differently
// when too few are given.
bool takes_old_forms(std::string_view name) {
  if (name.ends_with('_')) name.remove_suffix(1);
  for (const char* n : {"add", "sub", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr",
                        "baddbmm", "sspaddmm"})
    if (name == n) return true;
  return false;
}

int required(const Signature& s, int first) {
  int n = 0;
  for (int i = first; i < s.max_positional; ++i) n += !s.params[i].has_default;
  return n;
}

[[noreturn]] void too_many(const Call& c, const Signature& s) {
  int max = s.max_positional - c.first(), min = required(s, c.first());
  if (max == 0 && c.o.method && s.num == 1)
    fail_as(ErrorKind::Type, "TensorBase.", c.o.name, "() takes no arguments (", c.nargs,
            " given)");
  const char* plural = max == 1 ? "" : "s";
  if (min == max)
    fail_as(ErrorKind::Type, c.o.name, "() takes ", max, " positional argument", plural, " but ",
            c.nargs, c.nargs == 1 ? " was given" : " were given");
  fail_as(ErrorKind::Type, c.o.name, "() takes from ", min, " to ", max,
          " positional argument", plural, " but ", c.nargs,
          c.nargs == 1 ? " was given" : " were given");
}

[[noreturn]] void wrong_argument(const Call& c, const Param& p, PyObject* o, Py_ssize_t position) {
  std::string where = str(c.o.name, "(): argument '", p.name, "'");
  if (position >= 0) where += str(" (position ", position + 1, ")");
  bool list = p.kind == Kind::IntList || p.kind == Kind::IntListOpt ||
              p.kind == Kind::FloatList || p.kind == Kind::FloatListOpt ||
              p.kind == Kind::BoolList || p.kind == Kind::ScalarList;
  if (list && is_sequence(o)) {
    bool floats = p.kind == Kind::FloatList || p.kind == Kind::FloatListOpt;
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* x = PySequence_Fast_GET_ITEM(o, i);
      bool ok = floats ? is_float_like(x) : is_int_like(x);
      if (!ok)
        fail_as(ErrorKind::Type, where, " must be ", kind_name(p.kind),
                ", but found element of type ", type_name(x), " at pos ", i);
    }
  }
  fail_as(ErrorKind::Type, where, " must be ", kind_name(p.kind), ", not ", type_name(o));
}

// The first reason why `s` does not take the call.
[[noreturn]] void explain(const Call& c, const Signature& s) {
  int first = c.first(), i = first;
  Overriding ignored;
  Py_ssize_t a = 0;
  std::vector<bool> given_at(s.num, false);
  for (; i < s.max_positional && a < c.nargs; ++i, ++a) {
    given_at[i] = true;
    if (s.varargs_ints && i == s.varargs_at && is_int_like(c.args[a])) {
      for (Py_ssize_t b = a; b < c.nargs; ++b)
        if (!is_int_like(c.args[b])) wrong_argument(c, s.params[i], c.args[b], b);
      a = c.nargs;
      break;
    }
    if (!accepts(s.params[i], c.args[a], ignored)) {
      bool more = a + 1 < c.nargs && i + 1 >= s.max_positional;
      if (more) break;
      wrong_argument(c, s.params[i], c.args[a], a);
    }
  }
  if (a < c.nargs) too_many(c, s);
  for (Py_ssize_t k = 0; k < c.nkw(); ++k) {
    PyObject* keyword = PyTuple_GET_ITEM(c.kwnames, k);
    int at = find_parameter(s, keyword);
    if (at < first)
      fail_as(ErrorKind::Type, c.o.name, "() got an unexpected keyword argument '",
              PyUnicode_AsUTF8(keyword), "'");
    if (given_at[at])
      fail_as(ErrorKind::Type, c.o.name, "() got multiple values for argument '",
              s.params[at].name, "'");
    given_at[at] = true;
  }
  std::string missing;
  int count = 0;
  for (int j = first; j < s.max_positional; ++j)
    if (!given_at[j] && !s.params[j].has_default) {
      missing += (count++ ? ", \"" : "\"") + std::string(s.params[j].name) + "\"";
    }
  if (count && takes_old_forms(c.o.name))
    fail_as(ErrorKind::Type, c.o.name, "() received an invalid combination of arguments - got (",
            given(c), "), but expected ", pretty(s));
  if (count)
    fail_as(ErrorKind::Type, c.o.name, "() missing ", count, " required positional argument",
            "s: ", missing);
  for (Py_ssize_t k = 0; k < c.nkw(); ++k) {
    const Param& p = s.params[find_parameter(s, PyTuple_GET_ITEM(c.kwnames, k))];
    if (!accepts(p, c.args[c.nargs + k], ignored)) wrong_argument(c, p, c.args[c.nargs + k], -1);
  }
  for (int j = s.max_positional; j < s.num; ++j)
    if (!given_at[j] && !s.params[j].has_default)
      fail_as(ErrorKind::Type, c.o.name, "() missing 1 required keyword-only argument: \"",
              s.params[j].name, "\"");
  fail_as(ErrorKind::Type, c.o.name, "() received an invalid combination of arguments");
}

// Could the number of arguments belong to this signature?
bool plausible(const Call& c, const Signature& s) {
  Py_ssize_t n = c.nargs + c.nkw();
  int first = c.first();
  if (s.varargs_ints && c.nargs > 0) return true;
  int least = 0;
  for (int i = first; i < s.num; ++i) least += !s.params[i].has_default;
  return n >= least && n <= s.num - first;
}

// "didn't match because ..." is only said where every parameter has an argument.
std::string reason(const Call& c, const Signature& s) {
  int first = c.first();
  bool star = s.max_positional < s.num;  // counted as an argument in this comparison
  if (c.nargs + c.nkw() != s.num - first + star) return "";
  std::string unknown;
  for (Py_ssize_t k = 0; k < c.nkw(); ++k)
    if (find_parameter(s, PyTuple_GET_ITEM(c.kwnames, k)) < first)
      unknown += (unknown.empty() ? "" : ", ") +
                 std::string(PyUnicode_AsUTF8(PyTuple_GET_ITEM(c.kwnames, k)));
  if (!unknown.empty())
    return "      didn't match because some of the keywords were incorrect: " + unknown + "\n";
  std::string list;
  Overriding ignored;
  bool bad = false;
  for (Py_ssize_t i = 0; i < c.nargs + c.nkw(); ++i) {
    int at = i < c.nargs ? first + int(i)
                         : find_parameter(s, PyTuple_GET_ITEM(c.kwnames, i - c.nargs));
    if (i < c.nargs && at >= s.max_positional) at = -1;
    std::string t = given_name(c.args[i]);
    if (i >= c.nargs)
      t = std::string(PyUnicode_AsUTF8(PyTuple_GET_ITEM(c.kwnames, i - c.nargs))) + "=" + t;
    bool ok = at >= 0 && accepts(s.params[at], c.args[i], ignored);
    bad |= !ok;
    list += (i ? ", " : "") + (ok ? t : "!" + t + "!");
  }
  if (c.nargs + c.nkw() == 1 && c.nkw()) list += ", ";
  if (!bad) return "";
  return "      didn't match because some of the arguments have invalid types: (" + list + ")\n";
}

[[noreturn]] void fail_bind(const Call& c) {
  const Overloads& o = c.o;
  if (o.num == 1) {
    const Signature& s = o.sigs[0];
    explain(c, s);
  }
  const Signature* only = nullptr;
  int count = 0;
  for (int i = 0; i < o.num; ++i)
    if (plausible(c, o.sigs[i])) {
      only = &o.sigs[i];
      ++count;
    }
  if (count == 1) explain(c, *only);
  std::string s = str(o.name, "() received an invalid combination of arguments - got (", given(c),
                      "), but expected one of:\n");
  for (int i = 0; i < o.num; ++i) {
    s += " * " + pretty(o.sigs[i]) + "\n";
    s += reason(c, o.sigs[i]);
  }
  fail_as(ErrorKind::Type, s);
}

}  // namespace

void set_bind_error(const Overloads& o, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                    PyObject* kwnames) {
  if (PyErr_Occurred()) return;
  try {
    fail_bind(Call{o, args, nargs, kwnames});
  } catch (...) {
    set_python_error();
  }
}

}  // namespace rl::py
