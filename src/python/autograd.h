// Autograd's face in Python: node objects (grad_fn), hooks, torch._C._FunctionBase and the
// functions of torch._C that torch/autograd uses.
#pragma once
#include "autograd/node.h"
#include "python/errors.h"
#include "python/opaque.h"
#include "python/tensor_object.h"

namespace rl::py {

PyObject* wrap_node(const NodePtr& n);   // new reference; None for null; one object while it lives
bool is_node(PyObject* o);
NodePtr node_of(PyObject* o);            // TypeError if it is no node, RuntimeError if it is gone

// ---- hooks kept in an OrderedDict that RemovableHandle takes them out of
struct HookDict {
  explicit HookDict(PyObject* dict) : dict(new_ref(dict)) {}
  ~HookDict();
  HookDict(const HookDict&) = delete;
  Ref snapshot() const;                  // list of the hooks
  PyObject* dict;
};
PyObject* new_hook_dict();               // OrderedDict()
// Adds hook to dict and returns the RemovableHandle; both new references.
PyObject* add_hook(PyObject* dict, PyObject* hook);
PyObject* tensor_register_hook(PyObject* self, PyObject* hook);
PyObject* tensor_register_accumulate_hook(PyObject* self, PyObject* hook);
PyObject* node_register_hook(const NodePtr& n, PyObject* hook);
PyObject* node_register_prehook(const NodePtr& n, PyObject* hook);
int visit_hooks(TensorImpl* t, visitproc visit, void* arg);
void clear_hooks(TensorImpl* t);

// ---- what node objects of both kinds answer
PyObject* node_next_functions(const NodePtr& n);
PyObject* node_metadata(const NodePtr& n);
PyObject* node_input_metadata(const NodePtr& n);

// ---- custom functions
extern PyTypeObject function_base_type;
struct PyFunctionNode;
PyObject* function_object_of(const Node& n);   // borrowed; null for nodes of C++
int visit_function_node(Node& n, visitproc visit, void* arg);

bool add_node_types(PyObject* module);
bool add_function_type(PyObject* module);
bool add_autograd_functions(PyObject* module);
bool add_saved_functions(PyObject* module);
inline bool add_autograd(PyObject* module) {
  return add_node_types(module) && add_function_type(module) && add_autograd_functions(module) &&
         add_saved_functions(module);
}

// An interned name, made once: static PyObject* n = interned("x").
inline PyObject* interned(const char* s) { return PyUnicode_InternFromString(s); }

}  // namespace rl::py
