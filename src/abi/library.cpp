// Libraries of operators: the registration half of the stable C ABI, and torch_call_dispatcher.
#include "abi/library.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

namespace rl::abi {

FrontEnd front_end;
Objects objects;

namespace {

constexpr std::string_view kKeys[] = {
    "CPU", "CUDA", "Meta", "MPS", "XPU", "HPU", "IPU", "XLA", "Lazy", "MTIA", "PrivateUse1",
    "PrivateUse2", "PrivateUse3", "SparseCPU", "SparseCUDA", "SparseCsrCPU", "SparseCsrCUDA",
    "QuantizedCPU", "QuantizedCUDA", "MkldnnCPU", "NestedTensorCPU", "NestedTensorCUDA",
    "BackendSelect", "Python", "Functionalize", "Conjugate", "Negative", "ZeroTensor",
    "ADInplaceOrView", "Autograd", "AutogradOther", "AutogradFunctionality", "AutogradCPU",
    "AutogradCUDA", "AutogradMeta", "AutogradXPU", "AutogradMPS", "AutogradPrivateUse1",
    "AutogradNestedTensor", "Tracer", "AutocastCPU", "AutocastCUDA", "AutocastXPU",
    "AutocastMPS", "AutocastPrivateUse1", "FuncTorchBatched", "FuncTorchVmapMode", "Batched",
    "VmapMode", "CompositeImplicitAutograd", "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutogradNestedTensor",
    "CatchAll"};

enum class LibraryKind : uint8_t { Def, Impl, Fragment };

struct Library {
  LibraryKind kind;
  std::string ns, key, file;
  uint32_t line;
  std::vector<Definition*> definitions;
  std::vector<Kernel*> kernels;
};

struct Registry {
  std::mutex mutex;
  std::atomic<uint64_t> generation{0};
  std::deque<Definition> definitions;  // addresses stay
  std::deque<Kernel> kernels;
  std::deque<Library*> owners;         // of namespaces (kind Def)
};
Registry& registry() {  // lives until the end: libraries unregister while the process exits
  static Registry& r = *new Registry();
  return r;
}

void check_key(const std::string& key) {
  for (std::string_view k : kKeys)
    if (k == key) return;
  fail("could not parse dispatch key: ", key);
}

Library* open_library(LibraryKind kind, const char* ns, const char* key, const char* file,
                      uint32_t line) {
  auto lib = std::make_unique<Library>();
  lib->kind = kind;
  lib->ns = ns;
  lib->key = key ? key : "";
  lib->file = file ? file : "";
  lib->line = line;
  if (lib->key == "CatchAll") lib->key.clear();
  if (!lib->key.empty()) check_key(lib->key);
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  if (kind == LibraryKind::Def) {
    for (Library* other : r.owners)
      check(other->ns != lib->ns, "Only a single TORCH_LIBRARY can be used to register the "
            "namespace ", lib->ns, "; please put all of your definitions in a single "
            "TORCH_LIBRARY block.  Previous registration of TORCH_LIBRARY was registered at ",
            other->file, ":", other->line, "; latest registration was registered at ", lib->file,
            ":", lib->line);
    r.owners.push_back(lib.get());
  }
  return lib.release();
}

// "name.overload" or "ns::name.overload", checked against the library's namespace.
Schema in_namespace(const Library& lib, Schema name) {
  if (name.name.find("::") == std::string::npos) name.name = lib.ns + "::" + name.name;
  check(lib.ns == "_" || name.name.substr(0, name.name.find("::")) == lib.ns,
        "Explicitly provided namespace of ", name.name, " does not match the namespace ", lib.ns,
        " of the enclosing library");
  return name;
}

void define(Library& lib, const char* text, std::vector<int32_t> tags = {}) {
  check(lib.kind != LibraryKind::Impl, "def(\"", text, "\"): Cannot define an operator inside of "
        "a TORCH_LIBRARY_IMPL block.");
  Schema schema = in_namespace(lib, parse_schema(text));
  std::string written = text;
  if (written.substr(0, written.find('(')).find("::") == std::string::npos)
    written = lib.ns + "::" + written;
  std::string known;  // asked before the lock: the front end has one of its own
  bool twice = front_end.schema && front_end.schema(schema.qualified(), known);
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  for (const Definition& d : r.definitions)
    twice = twice || (d.alive && d.qualified == schema.qualified());
  check(!twice, "Tried to register an operator (", schema,
        ") with the same name and overload name multiple times. Each overload's schema should "
        "only be registered with a single call to def().");
  r.definitions.push_back({written, schema.qualified(), true, std::move(tags)});
  lib.definitions.push_back(&r.definitions.back());
  ++r.generation;
}

void implement(Library& lib, const char* name, BoxedKernel kernel) {
  Schema schema = in_namespace(lib, parse_name(name));
  check_implemented(schema.name.rfind("aten::", 0) != 0, "torch_library_impl: replacing the "
                    "kernels of ", schema.qualified(), " is not implemented");
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  r.kernels.push_back({schema.qualified(), lib.key, kernel, true});
  lib.kernels.push_back(&r.kernels.back());
  ++r.generation;
}

void close_library(Library* lib) {
  std::unique_ptr<Library> owned(lib);
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  for (Definition* d : lib->definitions) d->alive = false;
  for (Kernel* k : lib->kernels) k->alive = false;
  std::erase(r.owners, lib);
  ++r.generation;
}

// ---- calls

std::string qualified_name(const char* name, const char* overload) {
  std::string q = name;
  if (q.find("::") == q.npos) q = "aten::" + q;
  if (overload && *overload) q += std::string(".") + overload;
  return q;
}

std::optional<std::string> registered_schema(const std::string& qualified) {
  std::string text;
  if (front_end.schema && front_end.schema(qualified, text)) return text;
  for (const Definition& d : definitions())
    if (d.alive && d.qualified == qualified) return d.schema;
  return std::nullopt;
}

// Without a front end: the kernel of the first tensor's device, or the one for all devices.
void run_registered(const std::string& qualified, const Schema& schema, Stack& stack) {
  bool meta = false;
  for (const IValue& v : stack)
    if (v.is_tensor()) {
      meta = v.tensor().is_meta();
      break;
    }
  BoxedKernel found = nullptr;
  int best = 0;
  for (const Kernel& k : kernels()) {
    if (!k.alive || k.qualified != qualified) continue;
    int rank = k.key == (meta ? "Meta" : "CPU") ? 3
               : k.key.empty() || k.key.rfind("CompositeExplicit", 0) == 0 ? 2
               : k.key == "CompositeImplicitAutograd" ? 1 : 0;
    if (rank > best) {
      best = rank;
      found = k.run;
    }
  }
  check_implemented(found, "Could not run '", qualified, "' with arguments from the '",
                    meta ? "Meta" : "CPU", "' backend.");
  run_kernel(schema, found, stack);
}

Stack take_arguments(const Schema& schema, const StableValue* stack) {
  Stack out;
  for (size_t i = 0; i < schema.arguments.size(); ++i)
    out.push_back(from_stable(stack[i], schema.arguments[i].type));
  return out;
}

void give_results(const Schema& schema, const Stack& results, StableValue* stack) {
  check(results.size() >= schema.returns.size(), schema.qualified(), " returned ",
        int64_t(results.size()), " values instead of ", int64_t(schema.returns.size()));
  for (size_t i = 0; i < schema.returns.size(); ++i)
    stack[i] = to_stable(results[i], schema.returns[i].type);
}

// "aten::add", "Tensor" -> the core's operator.
const OpInfo* core_op(const std::string& qualified, const char* overload) {
  if (qualified.rfind("aten::", 0) != 0) return nullptr;
  std::string_view name(qualified);
  name.remove_prefix(6);
  return find_published(name.substr(0, name.find('.')), overload ? overload : "");
}

void call_dispatcher(const char* name, const char* overload, StableValue* stack) {
  std::string qualified = qualified_name(name, overload);
  if (const OpInfo* op = core_op(qualified, overload)) {
    const Schema& schema = public_schema(*op);
    Stack values = take_arguments(schema, stack);
    to_core_arguments(*op, values);
    Tensor self = values.empty() || !values[0].is_tensor() ? Tensor() : values[0].tensor();
    call_op(*op, values);
    if (values.empty() && schema.returns.size() == 1) values.push_back(box(self));  // in place
    give_results(schema, values, stack);
    return;
  }
  auto text = registered_schema(qualified);
  check(text.has_value(), "Could not find schema for ", qualified, ".");
  Schema schema = parse_schema(*text);
  Stack values = take_arguments(schema, stack);
  if (front_end.call) front_end.call(qualified, values);
  else run_registered(qualified, schema, values);
  give_results(schema, values, stack);
}

}  // namespace

uint64_t registry_generation() { return registry().generation.load(); }
std::vector<Definition> definitions() {
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  return {r.definitions.begin(), r.definitions.end()};
}
std::vector<Kernel> kernels() {
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  return {r.kernels.begin(), r.kernels.end()};
}

BoxedKernel kernel_at(size_t number) {
  auto& r = registry();
  std::lock_guard lock(r.mutex);
  return number < r.kernels.size() && r.kernels[number].alive ? r.kernels[number].run : nullptr;
}

void run_kernel(const Schema& schema, BoxedKernel kernel, Stack& stack) {
  size_t inputs = schema.arguments.size(), outputs = schema.returns.size();
  check(stack.size() == inputs, schema.qualified(), ": expected ", int64_t(inputs),
        " arguments, got ", int64_t(stack.size()));
  std::vector<StableValue> values(std::max(inputs, outputs));
  size_t given = 0;
  try {
    for (; given < inputs; ++given)
      values[given] = to_stable(stack[given], schema.arguments[given].type);
  } catch (...) {
    while (given-- > 0) from_stable(values[given], schema.arguments[given].type);
    throw;
  }
  kernel(values.data(), inputs, outputs);
  stack.clear();
  for (size_t i = 0; i < outputs; ++i)
    stack.push_back(from_stable(values[i], schema.returns[i].type));
}

}  // namespace rl::abi

using namespace rl;
using namespace rl::abi;

RL_ABI Status aoti_torch_library_init_def(const char* ns, const char* file, uint32_t line,
                                          Library** out) {
  return guarded([&] { *out = open_library(LibraryKind::Def, ns, nullptr, file, line); });
}
RL_ABI Status aoti_torch_library_init_fragment(const char* ns, const char* file, uint32_t line,
                                               Library** out) {
  return guarded([&] { *out = open_library(LibraryKind::Fragment, ns, nullptr, file, line); });
}
RL_ABI Status aoti_torch_library_init_impl(const char* ns, const char* key, const char* file,
                                           uint32_t line, Library** out) {
  return guarded([&] { *out = open_library(LibraryKind::Impl, ns, key, file, line); });
}
RL_ABI Status aoti_torch_library_def(Library* lib, const char* schema) {
  return guarded([&] { define(*lib, schema); });
}
RL_ABI Status torch_library_def_with_tags(Library* lib, const char* schema, const int32_t* tags,
                                          size_t n) {
  return guarded([&] { define(*lib, schema, std::vector<int32_t>(tags, tags + n)); });
}
// Names the Python module with the fake implementations, for messages about a missing one.
RL_ABI Status torch_library_set_python_module(Library*, const char*, const char*) { return 0; }
RL_ABI Status torch_library_impl(Library* lib, const char* name, BoxedKernel kernel, uint64_t) {
  return guarded([&] { implement(*lib, name, kernel); });
}
RL_ABI Status aoti_torch_library_impl(Library* lib, const char* name, BoxedKernel kernel) {
  return guarded([&] { implement(*lib, name, kernel); });
}
RL_ABI Status aoti_torch_delete_library_object(Library* lib) {
  return guarded([&] { close_library(lib); });
}
// The version is that of the headers the caller was built with: encodings have not changed since.
RL_ABI Status torch_call_dispatcher(const char* name, const char* overload, StableValue* stack,
                                    uint64_t) {
  return guarded([&] { call_dispatcher(name, overload, stack); });
}
RL_ABI Status aoti_torch_call_dispatcher(const char* name, const char* overload,
                                         StableValue* stack) {
  return guarded([&] { call_dispatcher(name, overload, stack); });
}
