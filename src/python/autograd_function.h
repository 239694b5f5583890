// torch._C._FunctionBase: the context object of a custom Function and the node behind it.
#pragma once
#include "python/autograd.h"

namespace rl::py {

// What the backward of a Function needs to know of one output of its forward.
struct FunctionOutput {
  bool tensor = false;
  Dims sizes;
  DType dtype = DType::Float;
  Device device;
};

struct FunctionObject {
  PyObject_HEAD
  PyFunctionNode* node;            // null: nothing was recorded, or the graph is gone
  PyObject *to_save, *saved_for_forward, *dirty, *non_differentiable, *needs_input_grad,
      *output_grad_dtypes;
  bool materialize_grads, materialize_non_diff, pure_view, in_jvp;
};
inline FunctionObject* function_cast(PyObject* o) { return reinterpret_cast<FunctionObject*>(o); }

// The node owns the context; the context knows the node while it lives.
struct PyFunctionNode final : Node {
  explicit PyFunctionNode(PyObject* ctx);
  ~PyFunctionNode() override;
  Grads apply(Grads&& grads) override;
  std::string name() const override { return Py_TYPE(ctx)->tp_name; }
  void release_saved() override;

  PyObject* ctx;
  std::vector<SavedTensor> saved;
  std::vector<FunctionOutput> results;
  std::vector<bool> tensor_input;  // of forward's arguments
  bool freed = false;
};

// MyFunction.apply(*args): autograd_apply.cpp
PyObject* function_apply(PyObject* cls, PyObject* args, PyObject* kwargs);

}  // namespace rl::py
