// Building and running plans; the thread's scratch memory.
#include "kernels/cpu/onednn/plan.h"

#include <omp.h>
#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <string_view>

#include "base/check.h"
#include "base/parallel.h"

namespace rl::onednn {
namespace {

constexpr size_t kAlign = 64;
constexpr size_t kHugePage = size_t(2) << 20;

size_t aligned(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// Grows only; a thread runs one primitive at a time.
struct Scratch {
  char* data = nullptr;
  size_t size = 0;
  ~Scratch() { std::free(data); }
  char* reserve(size_t bytes) {
    if (bytes <= size) return data;
    std::free(data);
    data = nullptr;
    size = 0;
    const size_t want = (bytes + bytes / 4 + kHugePage - 1) / kHugePage * kHugePage;
    data = static_cast<char*>(std::aligned_alloc(kHugePage, want));
    if (!data) fail_as(ErrorKind::OutOfMemory, "could not allocate ", want, " bytes of workspace");
    madvise(data, want, MADV_HUGEPAGE);
    size = want;
    return data;
  }
};
thread_local Scratch t_scratch;

size_t desc_size(const_dnnl_memory_desc_t md) {
  return md ? api().dnnl_memory_desc_get_size(md) : 0;
}

dnnl_memory_t make_memory(const_dnnl_memory_desc_t md) {
  dnnl_memory_t m = nullptr;
  must(api().dnnl_memory_create(&m, md, api().engine, DNNL_MEMORY_NONE), "memory");
  return m;
}

}  // namespace

dnnl_data_type_t data_type(Type t) {
  switch (t) {
    case Type::f32: return dnnl_f32;
    case Type::bf16: return dnnl_bf16;
    case Type::f16: return dnnl_f16;
    case Type::s32: return dnnl_s32;
    case Type::s8: return dnnl_s8;
    case Type::u8: return dnnl_u8;
  }
  return dnnl_data_type_undef;
}

void must(dnnl_status_t status, const char* what) {
  if (status == dnnl_success) [[likely]] return;
  if (status == dnnl_out_of_memory) {
    fail_as(ErrorKind::OutOfMemory, "oneDNN ran out of memory (", what, ")");
  }
  fail("oneDNN failed with status ", int(status), " (", what, ")");
}

Desc strided_desc(Type type, int ndim, const int64_t* dims, const int64_t* strides) {
  dnnl_memory_desc_t md = nullptr;
  must(api().dnnl_memory_desc_create_with_strides(&md, ndim, dims, data_type(type), strides),
       "memory descriptor");
  return Desc(md, api().dnnl_memory_desc_destroy);
}

Desc any_desc(Type type, int ndim, const int64_t* dims) {
  dnnl_memory_desc_t md = nullptr;
  must(api().dnnl_memory_desc_create_with_tag(&md, ndim, dims, data_type(type),
                                              dnnl_format_tag_any),
       "memory descriptor");
  return Desc(md, api().dnnl_memory_desc_destroy);
}

PrimitiveDesc own(dnnl_primitive_desc_t p) {
  return PrimitiveDesc(p, api().dnnl_primitive_desc_destroy);
}

bool is_reference(const_dnnl_primitive_desc_t pd) {
  const char* name = nullptr;
  must(api().dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name), "query");
  return std::string_view(name).find("ref") != std::string_view::npos;
}

bool skip_reference(dnnl_primitive_desc_t pd) {
  while (is_reference(pd)) {
    if (api().dnnl_primitive_desc_next_impl(pd) != dnnl_success) return false;
  }
  return true;
}

Plan::~Plan() {
  if (!primitive_) return;
  const Api& a = api();
  a.dnnl_primitive_destroy(primitive_);
  for (int i = 0; i < operands_; ++i) a.dnnl_memory_destroy(user_[i]);
  for (int i = 0; i < reorder_count_; ++i) {
    a.dnnl_primitive_destroy(reorders_[i].primitive);
    a.dnnl_memory_destroy(reorders_[i].inner);
    if (reorders_[i].scratch) a.dnnl_memory_destroy(reorders_[i].scratch);
  }
  if (scratch_) a.dnnl_memory_destroy(scratch_);
  if (scale_memory_) a.dnnl_memory_destroy(scale_memory_);
}

void Plan::start(const_dnnl_primitive_desc_t pd) {
  const Api& a = api();
  pd_ = pd;
  must(a.dnnl_primitive_create(&primitive_, pd), "primitive");
  const_dnnl_memory_desc_t md = a.dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
  scratch_bytes_ = aligned(desc_size(md));
  total_bytes_ = scratch_bytes_;
  if (scratch_bytes_) {
    scratch_ = make_memory(md);
    args_[count_++] = {DNNL_ARG_SCRATCHPAD, scratch_};
  }
}

void Plan::argument(int arg, const Desc& user, bool output) {
  const Api& a = api();
  dnnl_memory_t memory = make_memory(user.get());
  const int operand = operands_++;
  user_[operand] = memory;
  const_dnnl_memory_desc_t want = a.dnnl_primitive_desc_query_md(pd_, dnnl_query_exec_arg_md, arg);
  if (want && !a.dnnl_memory_desc_equal(want, user.get())) {
    Reorder& r = reorders_[reorder_count_++];
    r = Reorder{};
    r.operand = operand;
    r.output = output;
    r.user = memory;
    r.inner = make_memory(want);
    r.bytes = aligned(desc_size(want));
    dnnl_primitive_attr_t attr = nullptr;
    must(a.dnnl_primitive_attr_create(&attr), "attributes");
    a.dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    dnnl_primitive_desc_t pd = nullptr;
    const_dnnl_memory_desc_t from = output ? want : user.get(), to = output ? user.get() : want;
    const dnnl_status_t status =
        a.dnnl_reorder_primitive_desc_create(&pd, from, a.engine, to, a.engine, attr);
    a.dnnl_primitive_attr_destroy(attr);
    must(status, "reorder");
    PrimitiveDesc owner = own(pd);
    must(a.dnnl_primitive_create(&r.primitive, pd), "reorder");
    const_dnnl_memory_desc_t md = a.dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    r.scratch_bytes = aligned(desc_size(md));
    if (r.scratch_bytes) r.scratch = make_memory(md);
    total_bytes_ += r.bytes + r.scratch_bytes;
    memory = r.inner;
  }
  args_[count_++] = {arg, memory};
}

void Plan::runtime_scale(int arg) {
  const int64_t one = 1;
  Desc md = strided_desc(Type::f32, 1, &one, &one);
  must(api().dnnl_memory_create(&scale_memory_, md.get(), api().engine, &scale_), "memory");
  args_[count_++] = {DNNL_ARG_ATTR_SCALES | arg, scale_memory_};
}

void Plan::run_reorder(const Reorder& r, char* scratch) {
  const Api& a = api();
  dnnl_exec_arg_t args[3] = {{DNNL_ARG_FROM, r.output ? r.inner : r.user},
                             {DNNL_ARG_TO, r.output ? r.user : r.inner},
                             {DNNL_ARG_SCRATCHPAD, r.scratch}};
  if (r.scratch) a.dnnl_memory_set_data_handle(r.scratch, scratch);
  must(a.dnnl_primitive_execute(r.primitive, stream(), r.scratch ? 3 : 2, args), "reorder");
}

void Plan::run(const void* const* pointers) {
  const Api& a = api();
  for (int i = 0; i < operands_; ++i) {
    a.dnnl_memory_set_data_handle(user_[i], const_cast<void*>(pointers[i]));
  }
  char* inner[kMaxReorders];
  if (total_bytes_) {
    char* base = t_scratch.reserve(total_bytes_);
    if (scratch_) a.dnnl_memory_set_data_handle(scratch_, base);
    base += scratch_bytes_;
    for (int i = 0; i < reorder_count_; ++i) {
      a.dnnl_memory_set_data_handle(reorders_[i].inner, base);
      base += reorders_[i].bytes;
      inner[i] = base;
      base += reorders_[i].scratch_bytes;
    }
  }
  for (int i = 0; i < reorder_count_; ++i) {
    if (!reorders_[i].output) run_reorder(reorders_[i], inner[i]);
  }
  must(a.dnnl_primitive_execute(primitive_, stream(), count_, args_), "execution");
  for (int i = 0; i < reorder_count_; ++i) {
    if (reorders_[i].output) run_reorder(reorders_[i], inner[i]);
  }
}

Team::Team(double flops) {
  constexpr double kAlone = 2e6;  // some 20 us on one core
  size_ = flops < kAlone || in_parallel() ? 1 : num_threads();
  before_ = omp_get_max_threads();
  if (before_ != size_) omp_set_num_threads(size_);
}
Team::~Team() {
  if (before_ != size_) omp_set_num_threads(before_);
}

}  // namespace rl::onednn
