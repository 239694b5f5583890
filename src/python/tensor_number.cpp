// Operators: the forms that generated slot functions use, comparisons, and conversions of
// one-element tensors to Python numbers.
#include <cstring>
#include <string>
#include <string_view>

#include "python/accepts.h"
#include "python/errors.h"
#include "python/ops.h"
#include "python/generated.h"
#include "python/overrides.h"

namespace rl::py {

PyNumberMethods tensor_number = {};
PyMappingMethods tensor_mapping = {};
PySequenceMethods tensor_sequence = {};

namespace {

using Binary = PyObject* (*)(PyObject*, PyObject*);
using Unary = PyObject* (*)(PyObject*);
Binary comparisons[6] = {};
Binary power = nullptr, inplace_power = nullptr;

bool is_operand(PyObject* o) {
  return is_exact_tensor(o) || PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o) ||
         is_tensor(o) || is_numpy_scalar(o);
}

// a + b where an argument overrides, or a mode looks on. `reflected`: only b is a tensor.
PyObject* overridden(PyObject* a, PyObject* b, const Overloads& o) {
  Overriding who;
  if (overrides(a)) who.add(a);
  if (overrides(b)) who.add(b);
  bool reflected = !is_tensor(a) && is_tensor(b);
  std::string name = o.name;
  if (reflected) {
    if (name == "div" || name == "true_divide") name = "truediv";
    if (name == "remainder") name = "mod";
    if (name.starts_with("bitwise_")) name = name.substr(8);
    if (name == "left_shift") name = "lshift";
    if (name == "right_shift") name = "rshift";
    if (name == "floor_divide") name = "floordiv";
    if (name != "add" && name != "mul") name = "__r" + name + "__";
  }
  Ref f = owned(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name.c_str()));
  Ref args = owned(reflected ? PyTuple_Pack(2, b, a) : PyTuple_Pack(2, a, b));
  return call_torch_function(who, f.get(), args.get(), nullptr, o.qualified);
}

bool any_override(PyObject* a, PyObject* b) {
  if (is_exact_tensor(a) && (is_exact_tensor(b) || PyFloat_CheckExact(b) || PyLong_CheckExact(b)))
    return function_state.modes_on;
  return function_state.modes_on || (!is_exact_tensor(a) && overrides(a)) ||
         (!is_exact_tensor(b) && overrides(b));
}

// A TypeError means "not for me": Python then asks the other operand.
PyObject* type_error_to_not_implemented() {
  set_python_error();
  if (PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    return new_ref(Py_NotImplemented);
  }
  return nullptr;
}

}  // namespace

PyObject* binary_slot(PyObject* a, PyObject* b, const Overloads& o,
                      Tensor (*f)(const Tensor&, const Tensor&)) {
  try {
    if (is_exact_tensor(a) && is_exact_tensor(b) && !function_state.modes_on) [[likely]]
      return wrap(f(tensor_of(a), tensor_of(b)));
    if (any_override(a, b)) return overridden(a, b, o);
    if (!is_operand(a) || !is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
    return wrap(f(to_operand(a), to_operand(b)));
  } catch (...) {
    return type_error_to_not_implemented();
  }
}

PyObject* inplace_slot(PyObject* a, PyObject* b, const Overloads& o,
                       Tensor (*f)(const Tensor&, const Tensor&)) {
  try {
    if (any_override(a, b)) return overridden(a, b, o);
    if (!is_tensor(a) || !is_operand(b)) Py_RETURN_NOTIMPLEMENTED;
    f(tensor_of(a), to_operand(b));
    return new_ref(a);
  } catch (...) {
    return type_error_to_not_implemented();
  }
}

PyObject* unary_slot(PyObject* a, const Overloads& o, Tensor (*f)(const Tensor&)) {
  return guarded([&]() -> PyObject* {
    PyObject* r = nullptr;
    if (method_overridden(a, o.name, nullptr, 0, nullptr, &r)) return r;
    return wrap(f(tensor_of(a)));
  });
}

PyObject* tensor_richcompare(PyObject* a, PyObject* b, int op) {
  if (Binary f = comparisons[op]) {
    PyObject* r = f(a, b);
    // x == "text" is decided by identity, as for any Python object without an answer.
    return r;
  }
  Py_RETURN_NOTIMPLEMENTED;
}

namespace {

PyObject* slot_power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None || !power) Py_RETURN_NOTIMPLEMENTED;
  return power(a, b);
}
PyObject* slot_inplace_power(PyObject* a, PyObject* b, PyObject*) {
  if (!inplace_power) Py_RETURN_NOTIMPLEMENTED;
  return inplace_power(a, b);
}

Scalar one_element(PyObject* o) {
  const Tensor& t = tensor_of(o);
  check_value(t.numel() == 1, "only one element tensors can be converted to Python scalars");
  return ops::item(t);
}

int slot_bool(PyObject* o) {
  try {
    PyObject* r = nullptr;
    if (method_overridden(o, "__bool__", nullptr, 0, nullptr, &r)) {
      Ref owner(r);
      return r ? PyObject_IsTrue(r) : -1;
    }
    const Tensor& t = tensor_of(o);
    check(t.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
    check(t.numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
    return ops::item(t).to_bool();
  } catch (...) {
    set_python_error();
    return -1;
  }
}

PyObject* slot_int(PyObject* o) {
  return guarded([&]() -> PyObject* {
    PyObject* r = nullptr;
    if (method_overridden(o, "__int__", nullptr, 0, nullptr, &r)) return r;
    Scalar s = one_element(o);
    check(!s.is_complex() || s.to_complex().imag() == 0,
          "value cannot be converted to type int64_t without overflow");
    if (!s.is_integral()) return PyLong_FromDouble(s.to_double());
    if (tensor_of(o).dtype() == DType::UInt64)
      return PyLong_FromUnsignedLongLong(uint64_t(s.to_int()));
    return PyLong_FromLongLong(s.to_int());
  });
}

PyObject* slot_float(PyObject* o) {
  return guarded([&]() -> PyObject* {
    PyObject* r = nullptr;
    if (method_overridden(o, "__float__", nullptr, 0, nullptr, &r)) return r;
    if (tensor_of(o)->requires_grad) {
      static bool said = false;
      warn_once(said, "Converting a tensor with requires_grad=True to a scalar may lead to "
                "unexpected behavior.\nConsider using tensor.detach() first.");
    }
    Scalar s = one_element(o);
    check(!s.is_complex() || s.to_complex().imag() == 0,
          "value cannot be converted to type double without overflow");
    return PyFloat_FromDouble(s.is_complex() ? s.to_complex().real() : s.to_double());
  });
}

PyObject* slot_index(PyObject* o) {
  return guarded([&]() -> PyObject* {
    PyObject* r = nullptr;
    if (method_overridden(o, "__index__", nullptr, 0, nullptr, &r)) return r;
    const Tensor& t = tensor_of(o);
    check_type(t.numel() == 1 && is_integral(t.dtype(), true),
               "only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(ops::item(t).to_int());
  });
}

Py_ssize_t slot_length(PyObject* o) {
  try {
    PyObject* r = nullptr;
    if (method_overridden(o, "__len__", nullptr, 0, nullptr, &r)) {
      Ref owner(r);
      return r ? PyLong_AsSsize_t(r) : -1;
    }
    const Tensor& t = tensor_of(o);
    check_type(t.dim() > 0, "len() of a 0-d tensor");
    return t.sizes()[0];
  } catch (...) {
    set_python_error();
    return -1;
  }
}

struct SlotPlace {
  const char* name;
  void* place;
};
#define RL_SLOT(name) {#name, &tensor_number.name}
const SlotPlace kPlaces[] = {
    RL_SLOT(nb_add), RL_SLOT(nb_inplace_add), RL_SLOT(nb_subtract), RL_SLOT(nb_inplace_subtract),
    RL_SLOT(nb_multiply), RL_SLOT(nb_inplace_multiply), RL_SLOT(nb_remainder),
    RL_SLOT(nb_inplace_remainder), RL_SLOT(nb_negative), RL_SLOT(nb_positive),
    RL_SLOT(nb_absolute), RL_SLOT(nb_invert), RL_SLOT(nb_lshift), RL_SLOT(nb_inplace_lshift),
    RL_SLOT(nb_rshift), RL_SLOT(nb_inplace_rshift), RL_SLOT(nb_and), RL_SLOT(nb_inplace_and),
    RL_SLOT(nb_or), RL_SLOT(nb_inplace_or), RL_SLOT(nb_xor), RL_SLOT(nb_inplace_xor),
    RL_SLOT(nb_floor_divide), RL_SLOT(nb_inplace_floor_divide), RL_SLOT(nb_true_divide),
    RL_SLOT(nb_inplace_true_divide), RL_SLOT(nb_matrix_multiply),
    RL_SLOT(nb_inplace_matrix_multiply), {"nb_power", &power},
    {"nb_inplace_power", &inplace_power}, {"lt", &comparisons[Py_LT]}, {"le", &comparisons[Py_LE]},
    {"eq", &comparisons[Py_EQ]}, {"ne", &comparisons[Py_NE]}, {"gt", &comparisons[Py_GT]},
    {"ge", &comparisons[Py_GE]}};
#undef RL_SLOT

}  // namespace

void bind_number_slots() {
  for (const GeneratedSlot* const* list = generated_slots; *list; ++list)
    for (const GeneratedSlot* s = *list; s->slot; ++s)
      for (const SlotPlace& p : kPlaces)
        if (!std::strcmp(p.name, s->slot)) *static_cast<void**>(p.place) = s->function;
  tensor_number.nb_power = slot_power;
  tensor_number.nb_inplace_power = slot_inplace_power;
  tensor_number.nb_bool = slot_bool;
  tensor_number.nb_int = slot_int;
  tensor_number.nb_float = slot_float;
  tensor_number.nb_index = slot_index;
  tensor_mapping.mp_length = slot_length;
  tensor_mapping.mp_subscript = tensor_getitem;
  tensor_mapping.mp_ass_subscript = tensor_setitem;
}

// ---- out= and factories of generated functions
const Tensor& to_out(PyObject* o) {
  if (PyTuple_Check(o) || PyList_Check(o)) {
    check_type(PySequence_Fast_GET_SIZE(o) == 1, "expected a Tensor as out=, but got ",
               Py_TYPE(o)->tp_name);
    return to_tensor(PySequence_Fast_GET_ITEM(o, 0));
  }
  return to_tensor(o);
}

std::vector<Tensor> to_out_tuple(PyObject* o, int n) {
  check_type(PyTuple_Check(o) || PyList_Check(o), "expected tuple of ", n,
             " elements but got ", Py_TYPE(o)->tp_name);
  auto out = to_tensor_list(o);
  check_type(int(out.size()) == n, "expected tuple of ", n, " elements but got ", out.size());
  return out;
}

}  // namespace rl::py
