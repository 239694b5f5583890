// __torch_function__: which arguments override, in which order they are asked, and the stack of
// function modes of the thread.
#pragma once
#include <vector>

#include "python/tensor_object.h"

namespace rl::py {

struct FunctionState {
  uint8_t disabled = 0;             // 1: subclasses off; 2: modes too
  bool modes_on = false;            // some mode is on the stack and not disabled
  std::vector<PyObject*> modes;     // owned; innermost last
  void refresh() { modes_on = !modes.empty() && disabled < 2; }
};
extern thread_local FunctionState function_state;

// The overriding arguments of one call, in the order they are to be asked (subclasses first).
struct Overriding {
  std::vector<PyObject*> args;      // borrowed
  bool coerced = false;             // a 0-dim tensor was taken for a number: other signatures first
  void add(PyObject* o);
  bool any() const { return !args.empty(); }
};

// Does the class of `o` define __torch_function__ (and not as disabled)? Never for exact tensors.
bool overrides(PyObject* o);
// Does the class define __torch_dispatch__ (and not as disabled)?
bool class_dispatches(PyTypeObject* type);
void wrappers_about();  // such a tensor has been seen on this thread
// Calls modes, then the overriding arguments. New reference or null with an error.
PyObject* call_torch_function(const Overriding& who, PyObject* function, PyObject* args,
                              PyObject* kwargs, const char* qualified);
// For a property of a subclass: nullptr in `*out` means "not overridden, go on".
bool property_overridden(PyObject* self, const char* name, PyObject** out);
bool property_set_overridden(PyObject* self, const char* name, PyObject* value, int* out);
// For a method that is not bound by a table; args without self.
bool method_overridden(PyObject* self, const char* name, PyObject* const* args, Py_ssize_t nargs,
                       PyObject* kwnames, PyObject** out);
// "torch.Tensor.add" -> the object of that name; new reference.
PyObject* resolve_qualified(const char* name);

}  // namespace rl::py
