// Saved-tensor hooks of Python, and the mode that tells Python of writes before they happen
// (torch.autograd.graph.allow_mutation_on_saved_tensors).
#include "python/autograd.h"

namespace rl::py {

namespace {

struct PySavedHook final : SavedHook {
  PySavedHook(PyObject* unpack, Ref packed) : unpack_(new_ref(unpack)), packed_(packed.release()) {}
  ~PySavedHook() override {
    if (!Py_IsInitialized()) return;
    GilAcquire gil;
    Py_DECREF(unpack_);
    Py_DECREF(packed_);
  }
  Tensor unpack() override {
    GilAcquire gil;
    Ref r = owned(PyObject_CallOneArg(unpack_, packed_));
    check_type(is_tensor(r.get()), "Output of saved tensor unpack_hook expected to be a Tensor but "
               "got result of type ", Py_TYPE(r.get())->tp_name);
    return tensor_of(r.get());
  }

 private:
  PyObject *unpack_, *packed_;
};

struct PySavedHookFactory final : SavedHookFactory {
  PySavedHookFactory(PyObject* pack, PyObject* unpack)
      : pack_(new_ref(pack)), unpack_(new_ref(unpack)) {}
  ~PySavedHookFactory() override {
    if (!Py_IsInitialized()) return;
    GilAcquire gil;
    Py_DECREF(pack_);
    Py_DECREF(unpack_);
  }
  intrusive_ptr<SavedHook> pack(const Tensor& t) override {
    GilAcquire gil;
    Ref x = owned(wrap(t));
    Ref packed = owned(PyObject_CallOneArg(pack_, x.get()));
    return make_intrusive<PySavedHook>(unpack_, std::move(packed));
  }

 private:
  PyObject *pack_, *unpack_;
};

PyObject* push_saved(PyObject*, PyObject* args) {
  PyObject *pack, *unpack;
  if (!PyArg_ParseTuple(args, "OO", &pack, &unpack)) return nullptr;
  return guarded([&] {
    push_saved_hooks(make_intrusive<PySavedHookFactory>(pack, unpack));
    return none();
  });
}
PyObject* pop_saved(PyObject*, PyObject*) {
  return guarded([&] {
    pop_saved_hooks();
    return none();
  });
}
// disable(message or None) -> the message before
PyObject* disable_saved(PyObject*, PyObject* message) {
  return guarded([&] {
    auto before = saved_hooks_disabled();
    disable_saved_hooks(message == Py_None ? std::nullopt
                                           : std::optional<std::string>(to_str(message)));
    return before ? PyUnicode_FromString(before->c_str()) : none();
  });
}
PyObject* saved_disabled(PyObject*, PyObject*) {
  return PyBool_FromLong(saved_hooks_disabled().has_value());
}

// ---- writes
class WriteMode final : public Mode {
 public:
  explicit WriteMode(PyObject* f) : callback_(hold_object(f)) {}
  bool wants(const OpInfo& op) const override {
    std::string_view overload(op.overload);
    return op.inplace || overload == "out" || overload.ends_with("_out");
  }
  void call(const OpInfo& op, Stack& stack) override {
    const IValue& target = op.inplace ? stack.front() : stack.back();
    if (target.is_tensor()) {
      GilAcquire gil;
      Ref f(object_in(callback_));
      Ref t = owned(wrap(target.tensor()));
      owned(PyObject_CallOneArg(f.get(), t.get()));
    }
    op.boxed(stack);
  }

 private:
  intrusive_ptr<Opaque> callback_;
};

// torch.func.vmap(randomness="error")
class RandomErrorMode final : public Mode {
 public:
  bool wants(const OpInfo& op) const override { return op.random; }
  void call(const OpInfo&, Stack&) override {
    fail(
        "vmap: called random operation while in randomness error mode. Please either use the "
        "'same' or 'different' randomness flags on vmap or perform the randomness operation out of "
        "vmap");
  }
};
PyObject* push_random_error_mode(PyObject*, PyObject*) {
  return guarded([&] {
    push_mode(make_intrusive<RandomErrorMode>());
    return none();
  });
}

PyObject* push_write_mode(PyObject*, PyObject* f) {
  return guarded([&] {
    push_mode(make_intrusive<WriteMode>(f));
    return none();
  });
}
PyObject* pop_write_mode(PyObject*, PyObject*) {
  return guarded([&] {
    pop_mode();
    return none();
  });
}

PyMethodDef functions[] = {
    {"_push_saved_hooks", push_saved, METH_VARARGS, nullptr},
    {"_pop_saved_hooks", pop_saved, METH_NOARGS, nullptr},
    {"_disable_saved_hooks", disable_saved, METH_O, nullptr},
    {"_saved_hooks_disabled", saved_disabled, METH_NOARGS, nullptr},
    {"_push_write_mode", push_write_mode, METH_O, nullptr},
    {"_push_random_error_mode", push_random_error_mode, METH_NOARGS, nullptr},
    {"_pop_write_mode", pop_write_mode, METH_NOARGS, nullptr},
    {}};

}  // namespace

bool add_saved_functions(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace rl::py
