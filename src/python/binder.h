// What generated Python functions are made of: table-driven argument binding, converters from
// PyObject*, and wrapping of results. No operator-specific code here.
//
// A generated function looks like
//   PyObject* py_add(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
//     return guarded([&]() -> PyObject* {
//       PyObject* v[4];
//       switch (bind(add_overloads, self_or_null, args, nargs, kwnames, v)) {
//         case 0: return wrap(add(to_tensor(v[0]), to_operand(v[1]),
//                                 v[2] ? to_scalar(v[2]) : Scalar(1)));
//         default: return take_bound_result();   // __torch_function__ answered, or an error is set
//       }
//     });
//   }
#pragma once
#include <Python.h>

#include "core/op.h"
#include "core/tensor.h"

namespace rl::py {

enum class Kind : uint8_t {
  Tensor, TensorOpt, TensorList, TensorListOpt, OptTensorList,
  Operand,          // Tensor | number: a number becomes a 0-dim wrapped-number tensor
  Scalar, ScalarOpt, ScalarList,
  Int, IntOpt, IntList, IntListOpt,   // IntList with list_size > 0 takes one int for all
  Float, FloatOpt, FloatList, FloatListOpt,
  Bool, BoolOpt, BoolList, Str, StrOpt,
  DType, DTypeOpt, Device, DeviceOpt, LayoutOpt, MemoryFormat, MemoryFormatOpt, GeneratorOpt,
  Out, OutTuple,    // out=: None, a Tensor, or a tuple of them
  Ignored           // accepted and not used: names=None, pin_memory=...
};

struct Param {
  const char* name;
  Kind kind;
  bool keyword_only, has_default;
  int8_t list_size;          // of int[N]; 0: any
  const char* alias;         // numpy spelling accepted as keyword: dim/axis, input/x, ... or null
  mutable PyObject* interned = nullptr;
};

struct Signature {
  const char* text;          // "(Tensor input, Tensor other, *, Number alpha=1, Tensor out=None)";
                             //   of a method: without self
  const Param* params;
  uint8_t num, max_positional;
  bool varargs_ints;         // x.view(2, 3), x.permute(0, 1): trailing ints gather into one list,
  uint8_t varargs_at;        //   which is parameter number varargs_at
};

struct Overloads {
  const char* name;          // "add"
  const char* qualified;     // "torch.add" / "torch.Tensor.add": for __torch_function__ and errors
  const Signature* sigs;
  uint8_t num;
  bool method;               // params[0] and v[0] are self: never a keyword, not in error texts;
                             //   num and max_positional count it
  mutable PyObject* public_function = nullptr;  // object handed to __torch_function__
};

constexpr int kHandled = -1;
// Fills v[i] with borrowed references (null: default). Returns the matching signature's number, or
// kHandled after __torch_function__ ran or an error was set (PyTorch's TypeError wording).
int bind(const Overloads& o, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
         PyObject* kwnames, PyObject** v);
PyObject* take_bound_result();

// ---- converters; bind checked the kind, so they only fail on values (overflow, nested types)
const Tensor& to_tensor(PyObject* o);        // borrowed from the object
Tensor to_tensor_opt(PyObject* o);           // null or None: undefined
Tensor to_operand(PyObject* o);
std::vector<Tensor> to_tensor_list(PyObject* o);      // None inside: undefined
Scalar to_scalar(PyObject* o);
std::optional<Scalar> to_scalar_opt(PyObject* o);
std::vector<Scalar> to_scalar_list(PyObject* o);
int64_t to_int(PyObject* o);
std::optional<int64_t> to_int_opt(PyObject* o);
Dims to_int_list(PyObject* o, int list_size = 0);
struct OptDims {                              // owner for std::optional<IntRef> parameters
  bool has = false;
  Dims dims;
  operator std::optional<IntRef>() const {
    return has ? std::optional<IntRef>(IntRef(dims)) : std::nullopt;
  }
};
OptDims to_int_list_opt(PyObject* o, int list_size = 0);
double to_float(PyObject* o);
std::optional<double> to_float_opt(PyObject* o);
std::vector<double> to_float_list(PyObject* o);
struct OptFloats {
  bool has = false;
  std::vector<double> values;
  operator std::optional<ArrayRef<double>>() const {
    return has ? std::optional<ArrayRef<double>>(ArrayRef<double>(values)) : std::nullopt;
  }
};
OptFloats to_float_list_opt(PyObject* o);
bool to_bool(PyObject* o);
std::optional<bool> to_bool_opt(PyObject* o);
std::vector<bool> to_bool_list(PyObject* o);
std::string_view to_str(PyObject* o);         // borrowed from the object
std::optional<std::string_view> to_str_opt(PyObject* o);
DType to_dtype(PyObject* o);                  // also float, int, bool, complex types of Python
std::optional<DType> to_dtype_opt(PyObject* o);
Device to_device(PyObject* o);                // torch.device, str, int
std::optional<Device> to_device_opt(PyObject* o);
std::optional<Layout> to_layout_opt(PyObject* o);
MemoryFormat to_memory_format(PyObject* o);
std::optional<MemoryFormat> to_memory_format_opt(PyObject* o);
Generator* to_generator_opt(PyObject* o);

// ---- results
PyObject* wrap(const Tensor& t);              // new reference; undefined -> None
PyObject* wrap(Tensor&& t);
PyObject* wrap(const std::vector<Tensor>& l); // tuple (what split, unbind, ... return)
PyObject* wrap_list(const std::vector<Tensor>& l);
PyObject* wrap(const Scalar& s);
PyObject* wrap(bool v);
PyObject* wrap(int64_t v);
PyObject* wrap(double v);
PyObject* wrap(DType v);
PyObject* wrap(Device v);
PyObject* wrap_sizes(IntRef v);               // torch.Size
// Named tuples of several outputs: torch.return_types.max(values=..., indices=...). It is made
// once from its fields ("values", "indices"); fields null: a plain tuple.
struct ReturnType {
  const char* name;                           // "max"
  const char* const* fields;
  uint8_t num;
  mutable PyTypeObject* type = nullptr;
};
PyObject* wrap_items(const ReturnType& rt, PyObject** items);  // steals items
template <class... T>
PyObject* wrap_tuple(const ReturnType& rt, std::tuple<T...>&& r) {
  return std::apply(
      [&](auto&&... x) {
        PyObject* items[] = {wrap(std::move(x))...};
        return wrap_items(rt, items);
      },
      std::move(r));
}

// ---- errors: runs f; a C++ exception becomes the Python one of its kind
void set_python_error();                      // from the exception being handled
template <class F>
inline PyObject* guarded(F&& f) {
  try {
    return f();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}
// Thrown to carry an error that is already set in Python through C++.
[[noreturn]] void throw_python_error();

void retake_gil(PyThreadState* state);        // never returns once the interpreter is going away
struct GilRelease {                           // around backward and long reads
  PyThreadState* state = PyEval_SaveThread();
  ~GilRelease() { retake_gil(state); }
};
struct GilAcquire {
  PyGILState_STATE state = PyGILState_Ensure();
  ~GilAcquire() { PyGILState_Release(state); }
};

// ---- boxed values <-> Python (torch.ops, modes, torch.library)
PyObject* from_ivalue(const IValue& v);
IValue to_ivalue(PyObject* o);

}  // namespace rl::py
