// Autocast's state and the profiler's recorder as torch._C shows them.
#include <Python.h>
#include <frameobject.h>

#include "core/device.h"
#include "modes/autocast.h"
#include "modes/profiler.h"
#include "python/errors.h"
#include "python/tensor_object.h"
#include "python/types.h"

namespace rl::py {
namespace {

// ---- autocast
constexpr Param kDevice = {"device_type", Kind::Str, false, false, 0, nullptr};
constexpr Param kOptionalDevice = {"device_type", Kind::StrOpt, false, true, 0, nullptr};
constexpr Param kEnabled = {"enabled", Kind::Bool, false, false, 0, nullptr};
constexpr Param kDType = {"dtype", Kind::DType, false, false, 0, nullptr};

const Param p_enabled[] = {kOptionalDevice};
const Signature s_enabled[] = {{"(str device_type=None)", p_enabled, 1, 1, false, 0}};
const Overloads o_is_enabled = {"is_autocast_enabled", "torch.is_autocast_enabled", s_enabled, 1,
                                false};
const Param p_set_enabled[] = {kDevice, kEnabled};
const Signature s_set_enabled[] = {{"(str device_type, bool enabled)", p_set_enabled, 2, 2, false,
                                    0},
                                   {"(bool enabled)", p_set_enabled + 1, 1, 1, false, 0}};
const Overloads o_set_enabled = {"set_autocast_enabled", "torch.set_autocast_enabled",
                                 s_set_enabled, 2, false};
const Param p_get_dtype[] = {kDevice};
const Signature s_get_dtype[] = {{"(str device_type)", p_get_dtype, 1, 1, false, 0}};
const Overloads o_get_dtype = {"get_autocast_dtype", "torch.get_autocast_dtype", s_get_dtype, 1,
                               false};
const Param p_set_dtype[] = {kDevice, kDType};
const Signature s_set_dtype[] = {{"(str device_type, torch.dtype dtype)", p_set_dtype, 2, 2, false,
                                  0}};
const Overloads o_set_dtype = {"set_autocast_dtype", "torch.set_autocast_dtype", s_set_dtype, 1,
                               false};
const Overloads o_available = {"_is_autocast_available", "torch._C._is_autocast_available",
                               s_get_dtype, 1, false};

int device_named(std::string_view type, const char* otherwise) {
  int d = autocast_device(type);
  if (d < 0) parse_device(type);  // its error, if there is no such type at all
  check(d >= 0, otherwise);
  return d;
}
constexpr char kNoKey[] =
    "unknown device type for autocast in get_autocast_dispatch_key_from_device_type";

PyObject* do_is_enabled(int, PyObject* const* v) {
  auto type = to_str_opt(v[0]);
  return wrap(autocast_enabled(device_named(type.value_or("cuda"), kNoKey)));
}
PyObject* do_set_enabled(int which, PyObject* const* v) {
  std::string_view type = which ? std::string_view("cuda") : to_str(v[0]);
  set_autocast_enabled(device_named(type, kNoKey), to_bool(v[which ? 0 : 1]));
  return none();
}
PyObject* do_get_dtype(int, PyObject* const* v) {
  return wrap(autocast_dtype(device_named(to_str(v[0]), "unsupported scalarType")));
}
PyObject* do_set_dtype(int, PyObject* const* v) {
  set_autocast_dtype(device_named(to_str(v[0]), "unsupported scalarType"), to_dtype(v[1]));
  return none();
}
PyObject* do_available(int, PyObject* const* v) {
  return wrap(autocast_device(to_str(v[0])) >= 0);
}

template <const Overloads& O, PyObject* (*F)(int, PyObject* const*)>
PyObject* bound(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    PyObject* v[2] = {};
    int which = bind(O, nullptr, args, nargs, kwnames, v);
    return which == kHandled ? take_bound_result() : F(which, v);
  });
}

// The spellings with the device in the name.
void say_deprecated(const char* before, const char* now) {
  std::string text = std::string("torch.") + before + " is deprecated. Please use torch." + now +
                     " instead.";
  check_python(PyErr_WarnEx(PyExc_DeprecationWarning, text.c_str(), 1) == 0);
}
constexpr const char* kOldDevices[] = {"cpu", "cuda", "xla", "ipu"};
constexpr const char* kOldNames[] = {"cpu", "gpu", "xla", "ipu"};

template <int D>
PyObject* old_is_enabled(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    std::string d = kOldDevices[D];
    say_deprecated(("is_autocast_" + d + "_enabled()").c_str(),
                   ("is_autocast_enabled('" + d + "')").c_str());
    return wrap(autocast_enabled(autocast_device(d)));
  });
}
template <int D>
PyObject* old_set_enabled(PyObject*, PyObject* on) {
  return guarded([&]() -> PyObject* {
    std::string d = kOldDevices[D];
    say_deprecated(("set_autocast_" + d + "_enabled(enabled)").c_str(),
                   ("set_autocast_enabled('" + d + "', enabled)").c_str());
    check_type(PyBool_Check(on), "enabled must be a bool (got ", Py_TYPE(on)->tp_name, ")");
    set_autocast_enabled(autocast_device(d), on == Py_True);
    return none();
  });
}
template <int D>
PyObject* old_get_dtype(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    std::string d = kOldDevices[D], n = kOldNames[D];
    say_deprecated(("get_autocast_" + n + "_dtype()").c_str(),
                   ("get_autocast_dtype('" + d + "')").c_str());
    return wrap(autocast_dtype(autocast_device(d)));
  });
}
template <int D>
PyObject* old_set_dtype(PyObject*, PyObject* dtype) {
  return guarded([&]() -> PyObject* {
    std::string d = kOldDevices[D], n = kOldNames[D];
    say_deprecated(("set_autocast_" + n + "_dtype(dtype)").c_str(),
                   ("set_autocast_dtype('" + d + "', dtype)").c_str());
    check_type(is_dtype(dtype), "dtype must be a torch.dtype (got ", Py_TYPE(dtype)->tp_name, ")");
    set_autocast_dtype(autocast_device(d), dtype_of_object(dtype));
    return none();
  });
}

PyObject* cache_enabled(PyObject*, PyObject*) { return wrap(autocast_cache_enabled()); }
PyObject* set_cache_enabled(PyObject*, PyObject* on) {
  return guarded([&]() -> PyObject* {
    check_type(PyBool_Check(on), "enabled must be a bool (got ", Py_TYPE(on)->tp_name, ")");
    set_autocast_cache_enabled(on == Py_True);
    return none();
  });
}
PyObject* clear_cache(PyObject*, PyObject*) {
  return guarded([] {
    clear_autocast_cache();
    return none();
  });
}
PyObject* increment(PyObject*, PyObject*) { return PyLong_FromLong(autocast_increment_nesting()); }
PyObject* decrement(PyObject*, PyObject*) { return PyLong_FromLong(autocast_decrement_nesting()); }

// ---- profiler
// "path(line): function" of the Python frames of this thread, innermost first.
std::vector<std::string> python_stack() {
  std::vector<std::string> out;
  GilAcquire gil;
  Ref frame(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame) {
    auto* f = reinterpret_cast<PyFrameObject*>(frame.get());
    Ref code(reinterpret_cast<PyObject*>(PyFrame_GetCode(f)));
    auto* c = reinterpret_cast<PyCodeObject*>(code.get());
    const char* file = PyUnicode_AsUTF8(c->co_filename);
    const char* name = PyUnicode_AsUTF8(c->co_name);
    if (file && name)
      out.push_back(std::string(file) + "(" + std::to_string(PyFrame_GetLineNumber(f)) + "): " +
                    name);
    frame = Ref(reinterpret_cast<PyObject*>(PyFrame_GetBack(f)));
  }
  PyErr_Clear();
  return out;
}

PyObject* ints(const std::vector<int64_t>& v) {
  PyObject* l = PyList_New(Py_ssize_t(v.size()));
  for (size_t i = 0; l && i < v.size(); ++i)
    PyList_SET_ITEM(l, Py_ssize_t(i), PyLong_FromLongLong(v[i]));
  return l;
}
template <class V, class F>
PyObject* list_of(const V& v, F&& item) {
  Ref l = owned(PyList_New(Py_ssize_t(v.size())));
  for (size_t i = 0; i < v.size(); ++i) {
    PyObject* x = item(v[i]);
    if (!x) throw_python_error();
    PyList_SET_ITEM(l.get(), Py_ssize_t(i), x);
  }
  return l.release();
}

PyObject* input_tuple(const ProfiledInput& in) {
  PyObject* sizes = in.type == "TensorList" ? list_of(in.list, ints) : ints(in.sizes);
  return Py_BuildValue("(sNNN)", in.type.c_str(), sizes, ints(in.strides), from_ivalue(in.value));
}

// (name, kind, start, end, thread, forward thread, sequence number, parent, inputs, stack)
PyObject* event_tuple(const ProfiledEvent& e) {
  auto text = [](const std::string& s) { return PyUnicode_FromString(s.c_str()); };
  return Py_BuildValue("(siLLKKLLNN)", e.name.c_str(), int(e.kind), (long long)(e.start),
                       (long long)(e.end), (unsigned long long)(e.thread),
                       (unsigned long long)(e.forward_thread), (long long)(e.sequence_nr),
                       (long long)(e.parent), list_of(e.inputs, input_tuple),
                       list_of(e.stack, text));
}

PyObject* memory_tuple(const MemoryEvent& e) {
  return Py_BuildValue("(LLLKKL)", (long long)(e.time), (long long)(e.bytes), (long long)(e.total),
                       (unsigned long long)(e.address), (unsigned long long)(e.thread),
                       (long long)(e.parent));
}

// _profiler_start(shapes, memory, stacks, flops)
PyObject* py_start(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    check_type(n == 4, "_profiler_start(shapes, memory, stacks, flops)");
    capture_stack = python_stack;
    start_profiler({to_bool(args[0]), to_bool(args[1]), to_bool(args[2]), to_bool(args[3])});
    return none();
  });
}

// _profiler_stop() -> (start, end, events, memory events), or None if it was off
PyObject* py_stop(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    auto r = stop_profiler();
    if (!r) return none();
    return Py_BuildValue("(LLNN)", (long long)(r->start), (long long)(r->end),
                         list_of(r->events, event_tuple), list_of(r->memory, memory_tuple));
  });
}

PyObject* py_enabled(PyObject*, PyObject*) { return wrap(profiler_on()); }
PyObject* py_pause(PyObject*, PyObject* off) {
  return guarded([&]() -> PyObject* {
    pause_profiler(to_bool(off));
    return none();
  });
}
PyObject* py_enter(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    if (!profiler_on()) return PyLong_FromLong(-1);
    return PyLong_FromLongLong(enter_region(std::string(to_str(name)), EventKind::User));
  });
}
PyObject* py_leave(PyObject*, PyObject* event) {
  return guarded([&]() -> PyObject* {
    leave_region(to_int(event));
    return none();
  });
}

// _set_geometry(x, y): x, which has no memory, takes the geometry of y.
PyObject* py_set_geometry(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    check_type(n == 2 && is_tensor(args[0]) && is_tensor(args[1]), "expected two tensors");
    const Tensor &x = tensor_of(args[0]), &y = tensor_of(args[1]);
    check(x->dispatches, "_set_geometry: expected a tensor of a class with __torch_dispatch__");
    x->sizes = y->sizes;
    x->strides = y->strides;
    x->offset = y->offset;
    x->refresh();
    return none();
  });
}

template <class F>
PyCFunction fast(F f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}
constexpr int kKeywords = METH_FASTCALL | METH_KEYWORDS;
PyMethodDef functions[] = {
    {"is_autocast_enabled", fast(bound<o_is_enabled, do_is_enabled>), kKeywords, nullptr},
    {"set_autocast_enabled", fast(bound<o_set_enabled, do_set_enabled>), kKeywords, nullptr},
    {"get_autocast_dtype", fast(bound<o_get_dtype, do_get_dtype>), kKeywords, nullptr},
    {"set_autocast_dtype", fast(bound<o_set_dtype, do_set_dtype>), kKeywords, nullptr},
    {"_is_autocast_available", fast(bound<o_available, do_available>), kKeywords, nullptr},
    {"is_autocast_cpu_enabled", old_is_enabled<0>, METH_NOARGS, nullptr},
    {"is_autocast_xla_enabled", old_is_enabled<2>, METH_NOARGS, nullptr},
    {"is_autocast_ipu_enabled", old_is_enabled<3>, METH_NOARGS, nullptr},
    {"set_autocast_cpu_enabled", old_set_enabled<0>, METH_O, nullptr},
    {"set_autocast_xla_enabled", old_set_enabled<2>, METH_O, nullptr},
    {"set_autocast_ipu_enabled", old_set_enabled<3>, METH_O, nullptr},
    {"get_autocast_cpu_dtype", old_get_dtype<0>, METH_NOARGS, nullptr},
    {"get_autocast_gpu_dtype", old_get_dtype<1>, METH_NOARGS, nullptr},
    {"get_autocast_xla_dtype", old_get_dtype<2>, METH_NOARGS, nullptr},
    {"get_autocast_ipu_dtype", old_get_dtype<3>, METH_NOARGS, nullptr},
    {"set_autocast_cpu_dtype", old_set_dtype<0>, METH_O, nullptr},
    {"set_autocast_gpu_dtype", old_set_dtype<1>, METH_O, nullptr},
    {"set_autocast_xla_dtype", old_set_dtype<2>, METH_O, nullptr},
    {"set_autocast_ipu_dtype", old_set_dtype<3>, METH_O, nullptr},
    {"is_autocast_cache_enabled", cache_enabled, METH_NOARGS, nullptr},
    {"set_autocast_cache_enabled", set_cache_enabled, METH_O, nullptr},
    {"clear_autocast_cache", clear_cache, METH_NOARGS, nullptr},
    {"autocast_increment_nesting", increment, METH_NOARGS, nullptr},
    {"autocast_decrement_nesting", decrement, METH_NOARGS, nullptr},
    {"_set_geometry", fast(py_set_geometry), METH_FASTCALL, nullptr},
    {"_profiler_start", fast(py_start), METH_FASTCALL, nullptr},
    {"_profiler_stop", py_stop, METH_NOARGS, nullptr},
    {"_profiler_on", py_enabled, METH_NOARGS, nullptr},
    {"_profiler_pause", py_pause, METH_O, nullptr},
    {"_profiler_enter", py_enter, METH_O, nullptr},
    {"_profiler_leave", py_leave, METH_O, nullptr},
    {}};

}  // namespace

bool add_mode_functions(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace rl::py
