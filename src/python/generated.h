// What generated Python functions hand to module.cpp, and the operator-slot forms they use.
#pragma once
#include "python/binder.h"

namespace rl::py {

struct FunctionTable {         // functions of one namespace
  const char* module;          // "torch", "nn", "linalg", "fft", "special", "sparse", "private"
  PyMethodDef* methods;        // sentinel-terminated
};
// "nb_add", "nb_negative", "lt" ... with PyObject*(*)(PyObject*, PyObject*) or, for one operand,
// PyObject*(*)(PyObject*)
struct GeneratedSlot {
  const char* slot;
  void* function;
};
extern PyMethodDef* const generated_tensor_methods[];    // lists of Tensor methods; null ends
extern const FunctionTable generated_functions[];  // modules: torch nn linalg fft special ...
extern const GeneratedSlot* const generated_slots[];
extern const ReturnType* const* const generated_return_types[];  // lists; null ends

// out=: a Tensor (or None), or a tuple of n of them.
const Tensor& to_out(PyObject* o);
std::vector<Tensor> to_out_tuple(PyObject* o, int n);
// A list in which None is no element ("expected Tensor as element 1 in argument 0, but got None").
std::vector<Tensor> to_defined_tensor_list(PyObject* o);
// Of arguments that may be numbers, one must be a tensor.
void check_some_tensor(const char* name, std::initializer_list<PyObject*> operands);
// torch.empty and torch.zeros of a sparse layout: no element is specified.
bool wants_sparse(PyObject* layout);
PyObject* wrap_sparse_empty(PyObject* size, PyObject* dtype, PyObject* layout,
                            PyObject* requires_grad);
// Result of a factory: honours requires_grad= and refuses a layout that it does not have.
PyObject* wrap_new(Tensor t, PyObject* requires_grad, PyObject* layout);

// a + b: numbers on either side; NotImplemented for foreign types; __torch_function__ through `o`.
PyObject* binary_slot(PyObject* a, PyObject* b, const Overloads& o,
                      Tensor (*f)(const Tensor&, const Tensor&));
PyObject* inplace_slot(PyObject* a, PyObject* b, const Overloads& o,
                       Tensor (*f)(const Tensor&, const Tensor&));
PyObject* unary_slot(PyObject* a, const Overloads& o, Tensor (*f)(const Tensor&));

}  // namespace rl::py
