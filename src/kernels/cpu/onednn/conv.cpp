// Convolution and its two gradients. A transposed convolution is the data gradient of an ordinary
// one with source and destination exchanged, so only ordinary ones reach oneDNN.
//
// Layouts: a primitive may choose its own (`any`) or be given the caller's. Choosing costs reorders
// of whole tensors, and is worth it where there is much arithmetic per element; see choose().
#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/parallel.h"
#include "kernels/cpu/onednn/plan.h"

namespace rl::onednn {
namespace {

enum class Kind : uint8_t { forward, data, weights };

// An ordinary convolution, whatever the caller's was.
struct Key {
  Kind kind;
  Type type;
  Post post;
  bool src_last, weight_last, dst_last, has_bias;
  uint8_t spatial;
  int64_t threads, n, groups, in_channels, out_channels;
  int64_t in[3], kernel[3], out[3], stride[3], dilation[3], padding[3];
};
static_assert(sizeof(Key) == 8 + 5 * 8 + 18 * 8);

struct Descs {
  Desc src, weight, dst, bias;
};

Key make_key(Kind kind, const Conv& p, bool has_bias, Post post) {
  Key key;
  std::memset(static_cast<void*>(&key), 0, sizeof key);
  const bool swap = p.transposed;
  key.kind = kind;
  key.type = p.type;
  key.post = post;
  key.src_last = swap ? p.dst_last : p.src_last;
  key.dst_last = swap ? p.src_last : p.dst_last;
  key.weight_last = p.weight_last;
  key.has_bias = has_bias;
  key.spatial = uint8_t(p.spatial);
  key.threads = sync_threads();
  key.n = p.n;
  key.groups = p.groups;
  key.in_channels = swap ? p.out_channels : p.in_channels;
  key.out_channels = swap ? p.in_channels : p.out_channels;
  for (int i = 0; i < p.spatial; ++i) {
    key.in[i] = swap ? p.out[i] : p.in[i];
    key.out[i] = swap ? p.in[i] : p.out[i];
    key.kernel[i] = p.kernel[i];
    key.stride[i] = p.stride[i];
    key.dilation[i] = p.dilation[i];
    key.padding[i] = p.padding[i];
  }
  return key;
}

// Strides of (lead..., channels, spatial...) stored with the channels first or last.
Desc dense(Type type, int lead, const int64_t* dims, int ndim, bool last, bool any) {
  if (any) return any_desc(type, ndim, dims);
  int64_t strides[kMaxDims], step = 1;
  if (last) {
    strides[lead] = 1;
    step = dims[lead];
  }
  for (int i = ndim - 1; i > lead; --i) {
    strides[i] = step;
    step *= dims[i];
  }
  if (!last) {
    strides[lead] = step;
    step *= dims[lead];
  }
  for (int i = lead - 1; i >= 0; --i) {
    strides[i] = step;
    step *= dims[i];
  }
  return strided_desc(type, ndim, dims, strides);
}

Desc activation(const Key& key, int64_t channels, const int64_t* size, bool last, bool any) {
  int64_t dims[kMaxDims] = {key.n, channels};
  std::copy_n(size, key.spatial, dims + 2);
  return dense(key.type, 1, dims, key.spatial + 2, last, any);
}

Desc weight(const Key& key, bool any) {
  int64_t dims[kMaxDims];
  int ndim = 0;
  if (key.groups > 1) dims[ndim++] = key.groups;
  dims[ndim++] = key.out_channels / key.groups;
  const int lead = ndim;
  dims[ndim++] = key.in_channels / key.groups;
  for (int i = 0; i < key.spatial; ++i) dims[ndim++] = key.kernel[i];
  return dense(key.type, lead, dims, ndim, key.weight_last, any);
}

struct Choice {
  bool src_any, weight_any, dst_any;
};

Choice choose(const Key& key) {
  static const char* e = std::getenv("RL_CONV");
  const int v = e ? std::atoi(e) : 7;
  return {bool(v & 1), bool(v & 2), bool(v & 4)};
}

Descs make_descs(const Key& key, Choice any) {
  const Api& a = api();
  Desc bias(nullptr, a.dnnl_memory_desc_destroy);
  if (key.has_bias) {
    const int64_t one = 1;
    bias = strided_desc(key.type, 1, &key.out_channels, &one);
  }
  return {activation(key, key.in_channels, key.in, key.src_last, any.src_any),
          weight(key, any.weight_any),
          activation(key, key.out_channels, key.out, key.dst_last, any.dst_any), std::move(bias)};
}

dnnl_primitive_attr_t make_attr(const Key& key) {
  const Api& a = api();
  dnnl_primitive_attr_t attr = nullptr;
  must(a.dnnl_primitive_attr_create(&attr), "attributes");
  a.dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
  if (key.post == Post::relu) {
    dnnl_post_ops_t ops = nullptr;
    must(a.dnnl_post_ops_create(&ops), "post-ops");
    must(a.dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0, 0), "post-ops");
    must(a.dnnl_primitive_attr_set_post_ops(attr, ops), "post-ops");
    a.dnnl_post_ops_destroy(ops);
  }
  return attr;
}

dnnl_status_t create(const Key& key, const Descs& d, dnnl_primitive_attr_t attr,
                     dnnl_primitive_desc_t* pd) {
  const Api& a = api();
  int64_t left[3], right[3], dilates[3];
  for (int i = 0; i < key.spatial; ++i) {
    left[i] = key.padding[i];
    dilates[i] = key.dilation[i] - 1;
    const int64_t span = (key.kernel[i] - 1) * key.dilation[i] + 1;
    right[i] = (key.out[i] - 1) * key.stride[i] + span - key.in[i] - left[i];
  }
  switch (key.kind) {
    case Kind::forward:
      return a.dnnl_convolution_forward_primitive_desc_create(
          pd, a.engine, dnnl_forward_training, dnnl_convolution_direct, d.src.get(), d.weight.get(),
          d.bias.get(), d.dst.get(), key.stride, dilates, left, right, attr);
    case Kind::data:
      return a.dnnl_convolution_backward_data_primitive_desc_create(
          pd, a.engine, dnnl_convolution_direct, d.src.get(), d.weight.get(), d.dst.get(),
          key.stride, dilates, left, right, nullptr, attr);
    case Kind::weights:
      return a.dnnl_convolution_backward_weights_primitive_desc_create(
          pd, a.engine, dnnl_convolution_direct, d.src.get(), d.weight.get(), d.bias.get(),
          d.dst.get(), key.stride, dilates, left, right, nullptr, attr);
  }
  return dnnl_unimplemented;
}

void add_arguments(const Key& key, Plan& plan) {
  const Descs user = make_descs(key, {false, false, false});
  switch (key.kind) {
    case Kind::forward:
      plan.argument(DNNL_ARG_SRC, user.src, false);
      plan.argument(DNNL_ARG_WEIGHTS, user.weight, false);
      plan.argument(DNNL_ARG_DST, user.dst, true);
      if (key.has_bias) plan.argument(DNNL_ARG_BIAS, user.bias, false);
      break;
    case Kind::data:
      plan.argument(DNNL_ARG_DIFF_DST, user.dst, false);
      plan.argument(DNNL_ARG_WEIGHTS, user.weight, false);
      plan.argument(DNNL_ARG_DIFF_SRC, user.src, true);
      break;
    case Kind::weights:
      plan.argument(DNNL_ARG_SRC, user.src, false);
      plan.argument(DNNL_ARG_DIFF_DST, user.dst, false);
      plan.argument(DNNL_ARG_DIFF_WEIGHTS, user.weight, true);
      if (key.has_bias) plan.argument(DNNL_ARG_DIFF_BIAS, user.bias, true);
      break;
  }
}

void make_plan(const Key& key, Plan& plan) {
  const Api& a = api();
  const Descs descs = make_descs(key, choose(key));
  dnnl_primitive_attr_t attr = make_attr(key);
  dnnl_primitive_desc_t raw = nullptr;
  const dnnl_status_t status = create(key, descs, attr, &raw);
  a.dnnl_primitive_attr_destroy(attr);
  if (status != dnnl_success) return;
  PrimitiveDesc pd = own(raw);
  if (!skip_reference(pd.get())) return;
  if (std::getenv("RL_CONV")) {
    const char* n; a.dnnl_primitive_desc_query(pd.get(), dnnl_query_impl_info_str, 0, &n);
    printf("%s ", n);
  }
  plan.start(pd.get());
  add_arguments(key, plan);
}

bool run(const Key& key, const void* a, const void* b, void* c, const void* d) {
  Plan& plan = cached_plan(key, make_plan);
  if (!plan.usable()) return false;
  const void* pointers[4] = {a, b, c, d};
  plan.run(pointers);
  return true;
}

}  // namespace

bool conv_forward(const Conv& p, const void* src, const void* weight, const void* bias, void* dst,
                  Post post) {
  if (!p.transposed) {
    return run(make_key(Kind::forward, p, bias != nullptr, post), src, weight, dst, bias);
  }
  if (bias || post != Post::none) return false;
  return run(make_key(Kind::data, p, false, Post::none), src, weight, dst, nullptr);
}

bool conv_backward_data(const Conv& p, const void* diff_dst, const void* weight, void* diff_src) {
  const Kind kind = p.transposed ? Kind::forward : Kind::data;
  return run(make_key(kind, p, false, Post::none), diff_dst, weight, diff_src, nullptr);
}

bool conv_backward_weights(const Conv& p, const void* src, const void* diff_dst, void* diff_weight,
                           void* diff_bias) {
  if (p.transposed && diff_bias) return false;
  const Key key = make_key(Kind::weights, p, diff_bias != nullptr, Post::none);
  if (p.transposed) std::swap(src, diff_dst);
  return run(key, src, diff_dst, diff_weight, diff_bias);
}

}  // namespace rl::onednn
