// torch._C._unpickle and _crc32: the readers of src/serialize for torch/serialization.py.
// The pickle becomes a tree in C++ first, with only allowed names in it; then the tree becomes
// Python objects. What names mean and what may be called is decided by `policy`, the Unpickler of
// torch/_weights_only_unpickler.py.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "python/binder.h"
#include "python/errors.h"
#include "serialize/bulk_read.h"
#include "serialize/crc32.h"
#include "serialize/unpickler.h"

namespace rl::py {
namespace {

using namespace serialize;

Ref text_object(std::string_view s) {
  return owned(PyUnicode_DecodeUTF8(s.data(), Py_ssize_t(s.size()), "surrogatepass"));
}

Ref big_int(std::string_view s) {
  Ref bytes = owned(PyBytes_FromStringAndSize(s.data(), Py_ssize_t(s.size())));
  Ref function = owned(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&PyLong_Type),
                                              "from_bytes"));
  Ref args = owned(Py_BuildValue("(Os)", bytes.get(), "little"));
  Ref named = owned(Py_BuildValue("{sO}", "signed", Py_True));
  return owned(PyObject_Call(function.get(), args.get(), named.get()));
}

class Builder {
 public:
  Builder(const PickleTree& tree, PyObject* policy, PyObject* load, const char* encoding)
      : tree_(tree), policy_(policy), load_(load), encoding_(encoding),
        made_(tree.size()), busy_(tree.size()) {}

  Ref make(NodeId id) {
    if (made_[id]) return made_[id];
    // Lists and the like are in `made_` before their items; only tuples and arguments can get here.
    if (busy_[id]) throw PickleError("the pickle has a tuple or an argument that contains itself");
    busy_[id] = true;
    Ref result = make_new(id);
    busy_[id] = false;
    return made_[id] = result;
  }

 private:
  Ref make_new(NodeId id) {
    switch (tree_.kind(id)) {
      case NodeKind::None: return Ref::borrow(Py_None);
      case NodeKind::False: return Ref::borrow(Py_False);
      case NodeKind::True: return Ref::borrow(Py_True);
      case NodeKind::Int: return owned(PyLong_FromLongLong(tree_.integer(id)));
      case NodeKind::BigInt: return big_int(tree_.text(id));
      case NodeKind::Decimal:
        return owned(PyLong_FromString(std::string(tree_.text(id)).c_str(), nullptr, 10));
      case NodeKind::Float: return owned(PyFloat_FromDouble(tree_.real(id)));
      case NodeKind::Str: return text_object(tree_.text(id));
      case NodeKind::OldStr: return old_string(tree_.text(id));
      case NodeKind::Bytes: {
        auto s = tree_.text(id);
        return owned(PyBytes_FromStringAndSize(s.data(), Py_ssize_t(s.size())));
      }
      case NodeKind::ByteArray: {
        auto s = tree_.text(id);
        return owned(PyByteArray_FromStringAndSize(s.data(), Py_ssize_t(s.size())));
      }
      case NodeKind::Global: {
        Ref module = make(tree_.items(id)[0]), name = make(tree_.items(id)[1]);
        return call("_lookup", module.get(), name.get());
      }
      case NodeKind::Object: return make_object(id);
      case NodeKind::PersistentId: {
        Ref pid = make(tree_.items(id)[0]);
        if (load_ == Py_None)
          throw PickleError("a persistent id was met, but no persistent_load function is set");
        return owned(PyObject_CallFunctionObjArgs(load_, pid.get(), nullptr));
      }
      default: return make_container(id);
    }
  }

  Ref old_string(std::string_view s) {
    if (std::string_view(encoding_) == "bytes")
      return owned(PyBytes_FromStringAndSize(s.data(), Py_ssize_t(s.size())));
    return owned(PyUnicode_Decode(s.data(), Py_ssize_t(s.size()), encoding_, "strict"));
  }

  Ref make_container(NodeId id) {
    auto items = tree_.items(id);
    switch (tree_.kind(id)) {
      case NodeKind::List: {
        Ref list = made_[id] = owned(PyList_New(0));
        for (NodeId item : items) check_python(PyList_Append(list.get(), make(item).get()) == 0);
        return list;
      }
      case NodeKind::Dict: {
        Ref dict = made_[id] = owned(PyDict_New());
        set_items(dict.get(), items);
        return dict;
      }
      case NodeKind::Set: {
        Ref set = made_[id] = owned(PySet_New(nullptr));
        for (NodeId item : items) check_python(PySet_Add(set.get(), make(item).get()) == 0);
        return set;
      }
      default: break;
    }
    std::vector<Ref> made;
    made.reserve(items.size());
    for (NodeId item : items) made.push_back(make(item));
    Ref tuple = owned(PyTuple_New(Py_ssize_t(made.size())));
    for (size_t i = 0; i < made.size(); ++i)
      PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), made[i].release());
    if (tree_.kind(id) == NodeKind::FrozenSet) return owned(PyFrozenSet_New(tuple.get()));
    return tuple;
  }

  void set_items(PyObject* target, std::span<const NodeId> items) {
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      Ref key = make(items[i]), value = make(items[i + 1]);
      check_python(PyObject_SetItem(target, key.get(), value.get()) == 0);
    }
  }

  Ref call(const char* method, PyObject* a, PyObject* b, PyObject* c = nullptr) {
    Ref name = owned(PyUnicode_FromString(method));
    return owned(PyObject_CallMethodObjArgs(policy_, name.get(), a, b, c, nullptr));
  }

  Ref make_object(NodeId id) {
    const PickleObject& o = tree_.object(id);
    Ref callable = make(o.callable), args = make(o.args);
    Ref object;
    if (o.how == PickleObject::Reduce) {
      object = call("reduce", callable.get(), args.get());
    } else {
      Ref kwargs = make(o.kwargs);
      object = call("new_object", callable.get(), args.get(), kwargs.get());
    }
    made_[id] = object;
    for (const PickleAction& action : o.actions) apply(object.get(), action);
    return object;
  }

  void apply(PyObject* object, const PickleAction& action) {
    switch (action.kind) {
      case PickleAction::SetItems:
        if (!PyDict_Check(object))
          throw PickleError(str("Can only set items of dicts, but got ",
                                Py_TYPE(object)->tp_name));
        set_items(object, action.items);
        return;
      case PickleAction::AddItems:
        if (!PySet_CheckExact(object))
          throw PickleError(str("Can only add items to sets, but got ", Py_TYPE(object)->tp_name));
        for (NodeId item : action.items)
          check_python(PySet_Add(object, make(item).get()) == 0);
        return;
      case PickleAction::Build: {
        Ref state = make(action.items[0]);
        call("build", object, state.get());
        return;
      }
      case PickleAction::Append: return;  // refused while parsing
    }
  }

  const PickleTree& tree_;
  PyObject *policy_, *load_;
  const char* encoding_;
  std::vector<Ref> made_;
  std::vector<char> busy_;
};

// The names that the user added: a set of "module.name".
std::unordered_set<std::string> names_of(PyObject* policy) {
  std::unordered_set<std::string> names;
  Ref given = owned(PyObject_GetAttrString(policy, "user_names"));
  Ref iterator = owned(PyObject_GetIter(given.get()));
  while (PyObject* item = PyIter_Next(iterator.get())) {
    Ref holder(item);
    const char* s = PyUnicode_AsUTF8(item);
    check_python(s != nullptr);
    names.insert(s);
  }
  check_python(!PyErr_Occurred());
  return names;
}

[[noreturn]] void raise_unpickling_error(const char* message) {
  Ref module = owned(PyImport_ImportModule("_pickle"));
  Ref type = owned(PyObject_GetAttrString(module.get(), "UnpicklingError"));
  Ref text = text_object(message);
  PyErr_SetObject(type.get(), text.get());
  throw_python_error();
}

// _unpickle(data: bytes, policy, persistent_load, encoding) -> (object, bytes read)
PyObject* unpickle(PyObject*, PyObject* args) {
  const char *data, *encoding;
  Py_ssize_t size;
  PyObject *policy, *load;
  if (!PyArg_ParseTuple(args, "y#OOs", &data, &size, &policy, &load, &encoding)) return nullptr;
  return guarded([&]() -> PyObject* {
    const auto names = names_of(policy);
    PickleOptions options;
    options.allowed = [&](std::string_view module, std::string_view name) {
      return default_allowed(module, name) ||
             (!names.empty() && names.count(str(module, ".", name)));
    };
    size_t consumed = 0;
    Ref object;
    try {
      const PickleTree tree = parse_pickle({data, size_t(size)}, options, &consumed);
      object = Builder(tree, policy, load, encoding).make(tree.root());
    } catch (const PickleError& e) {
      raise_unpickling_error(e.what());
    }
    return Py_BuildValue("(On)", object.get(), Py_ssize_t(consumed));
  });
}

// _crc32(data, value=0): as zlib.crc32, several times as fast.
PyObject* py_crc32(PyObject*, PyObject* args) {
  Py_buffer buffer;
  unsigned int value = 0;
  if (!PyArg_ParseTuple(args, "y*|I", &buffer, &value)) return nullptr;
  Py_BEGIN_ALLOW_THREADS
  value = crc32(buffer.buf, size_t(buffer.len), value);
  Py_END_ALLOW_THREADS
  PyBuffer_Release(&buffer);
  return PyLong_FromUnsignedLong(value);
}

// _read_records(fd, [(offset, address, size, crc), ...]) -> [0 good, 1 short, 2 bad checksum, ...]
PyObject* read_records(PyObject*, PyObject* args) {
  int fd;
  PyObject* list;
  if (!PyArg_ParseTuple(args, "iO!", &fd, &PyList_Type, &list)) return nullptr;
  std::vector<ReadJob> jobs(size_t(PyList_GET_SIZE(list)));
  for (size_t i = 0; i < jobs.size(); ++i) {
    unsigned long long offset, address, size;
    unsigned int crc;
    PyObject* job = PyList_GET_ITEM(list, Py_ssize_t(i));
    if (!PyArg_ParseTuple(job, "KKKI", &offset, &address, &size, &crc)) return nullptr;
    jobs[i] = {offset, reinterpret_cast<void*>(uintptr_t(address)), size, crc};
  }
  return guarded([&]() -> PyObject* {
    std::vector<ReadResult> results;
    {
      GilRelease released;
      results = read_all(fd, jobs);
    }
    Ref out = owned(PyList_New(Py_ssize_t(results.size())));
    for (size_t i = 0; i < results.size(); ++i)
      PyList_SET_ITEM(out.get(), Py_ssize_t(i), owned(PyLong_FromLong(long(results[i]))).release());
    return out.release();
  });
}

PyMethodDef functions[] = {{"_unpickle", unpickle, METH_VARARGS, nullptr},
                           {"_crc32", py_crc32, METH_VARARGS, nullptr},
                           {"_read_records", read_records, METH_VARARGS, nullptr},
                           {}};

}  // namespace

bool add_serialize_functions(PyObject* module) {
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace rl::py
