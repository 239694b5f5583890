// Convolution and its two gradients. A transposed convolution is the data gradient of an ordinary
// one with source and destination exchanged, so only ordinary ones reach oneDNN.
//
// Layouts: a primitive may choose its own (`any`) or be given the caller's. Choosing costs reorders
// of whole tensors, and is worth it where there is much arithmetic per element; see choose().
#include <algorithm>
#include <utility>

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

// What a primitive is asked to work on: the caller's layout, its own choice, or channels first.
enum class Inner : uint8_t { user, any, first };

// Strides of (lead..., channels, spatial...) stored with the channels first or last.
Desc dense(Type type, int lead, const int64_t* dims, int ndim, bool last, Inner inner) {
  if (inner == Inner::any) return any_desc(type, ndim, dims);
  last &= inner == Inner::user;
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

Desc activation(const Key& key, int64_t channels, const int64_t* size, bool last, Inner inner) {
  int64_t dims[kMaxDims] = {key.n, channels};
  std::copy_n(size, key.spatial, dims + 2);
  return dense(key.type, 1, dims, key.spatial + 2, last, inner);
}

Desc weight(const Key& key, Inner inner) {
  int64_t dims[kMaxDims];
  int ndim = 0;
  if (key.groups > 1) dims[ndim++] = key.groups;
  dims[ndim++] = key.out_channels / key.groups;
  const int lead = ndim;
  dims[ndim++] = key.in_channels / key.groups;
  for (int i = 0; i < key.spatial; ++i) dims[ndim++] = key.kernel[i];
  return dense(key.type, lead, dims, ndim, key.weight_last, inner);
}

struct Choice {
  Inner activations, weight;
};

// Measured on AVX-512 with one thread. Channels last is what oneDNN's kernels like, so it stays.
// Channels first goes through a blocked layout of oneDNN's choice, which pays for its reorders
// except where the convolution is a plain GEMM (1x1), or, for the data gradient, where the few
// input channels would fill only a corner of a block.
Choice choose(const Key& key) {
  bool one_by_one = true;
  for (int i = 0; i < key.spatial; ++i) {
    one_by_one &= key.kernel[i] == 1 && key.stride[i] == 1 && key.padding[i] == 0;
  }
  const bool first = !key.src_last && !key.dst_last, last = key.src_last && key.dst_last;
  if (key.groups == 1 && key.type == Type::f32) {
    if (key.kind == Kind::data && key.in_channels < 5) return {Inner::first, Inner::first};
    if (one_by_one && first && key.kind != Kind::weights) return {Inner::user, Inner::first};
  }
  if (last && !(one_by_one && key.kind == Kind::weights)) return {Inner::user, Inner::any};
  return {Inner::any, Inner::any};
}

Descs make_descs(const Key& key, Choice choice) {
  const Api& a = api();
  Desc bias(nullptr, a.dnnl_memory_desc_destroy);
  if (key.has_bias) {
    const int64_t one = 1;
    bias = strided_desc(key.type, 1, &key.out_channels, &one);
  }
  const auto act = choice.activations;
  return {activation(key, key.in_channels, key.in, key.src_last, act), weight(key, choice.weight),
          activation(key, key.out_channels, key.out, key.dst_last, act), std::move(bias)};
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
  const Descs user = make_descs(key, {Inner::user, Inner::user});
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
  plan.start(pd.get());
  add_arguments(key, plan);
}

double flops(const Key& key) {
  double f = 2.0 * double(key.n) * double(key.out_channels) * double(key.in_channels / key.groups);
  for (int i = 0; i < key.spatial; ++i) f *= double(key.out[i]) * double(key.kernel[i]);
  return f;
}

bool run(Key key, const void* a, const void* b, void* c, const void* d) {
  const Team team(flops(key));
  key.threads = team.size();
  Plan& plan = cached_plan(key, make_plan);
  if (!plan.usable()) return false;
  const void* pointers[4] = {a, b, c, d};
  plan.run(pointers);
  return true;
}

// The data gradient has no bias argument, so a transposed convolution adds its bias here.
void add_bias(const Conv& p, const float* bias, float* dst) {
  int64_t area = 1;
  for (int i = 0; i < p.spatial; ++i) area *= p.out[i];
  const int64_t channels = p.out_channels;
  const int64_t rows = p.dst_last ? p.n * area : p.n * channels;
  const int64_t length = p.dst_last ? channels : area;
  parallel_for(0, rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(length, 1)),
               [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* row = dst + r * length;
      if (p.dst_last) {
        for (int64_t i = 0; i < length; ++i) row[i] += bias[i];
      } else {
        const float b = bias[r % channels];
        for (int64_t i = 0; i < length; ++i) row[i] += b;
      }
    }
  });
}

}  // namespace

bool conv_forward(const Conv& p, const void* src, const void* weight, const void* bias, void* dst,
                  Post post) {
  if (!p.transposed) {
    return run(make_key(Kind::forward, p, bias != nullptr, post), src, weight, dst, bias);
  }
  if (post != Post::none || (bias && p.type != Type::f32)) return false;
  if (!run(make_key(Kind::data, p, false, Post::none), src, weight, dst, nullptr)) return false;
  if (bias) add_bias(p, static_cast<const float*>(bias), static_cast<float*>(dst));
  return true;
}

bool conv_backward_data(const Conv& p, const void* diff_dst, const void* weight, void* diff_src) {
  const Kind kind = p.transposed ? Kind::forward : Kind::data;
  return run(make_key(kind, p, false, Post::none), diff_dst, weight, diff_src, nullptr);
}

bool conv_backward_weights(const Conv& p, const void* src, const void* diff_dst, void* diff_weight,
                           void* diff_bias) {
  if (p.transposed && diff_bias) return false;
  if (p.transposed) std::swap(src, diff_dst);
  return run(make_key(Kind::weights, p, diff_bias != nullptr, Post::none), src, diff_dst,
             diff_weight, diff_bias);
}

}  // namespace rl::onednn
