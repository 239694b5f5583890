// oneDNN's C functions as a table filled by dlopen at first use, so that importing the package
// costs nothing for it. Only the files of this folder include this header.
#pragma once
#include <oneapi/dnnl/dnnl.h>

namespace rl::onednn {

#define RL_DNNL_FUNCTIONS(F)                                                                  \
  F(dnnl_engine_create)                                                                       \
  F(dnnl_stream_create)                                                                       \
  F(dnnl_memory_desc_create_with_strides)                                                     \
  F(dnnl_memory_desc_create_with_tag)                                                         \
  F(dnnl_memory_desc_destroy)                                                                 \
  F(dnnl_memory_desc_get_size)                                                                \
  F(dnnl_memory_desc_equal)                                                                   \
  F(dnnl_memory_create)                                                                       \
  F(dnnl_memory_destroy)                                                                      \
  F(dnnl_memory_set_data_handle)                                                              \
  F(dnnl_primitive_attr_create)                                                               \
  F(dnnl_primitive_attr_destroy)                                                              \
  F(dnnl_primitive_attr_set_scratchpad_mode)                                                  \
  F(dnnl_primitive_attr_set_scales_mask)                                                      \
  F(dnnl_primitive_attr_set_post_ops)                                                         \
  F(dnnl_post_ops_create)                                                                     \
  F(dnnl_post_ops_destroy)                                                                    \
  F(dnnl_post_ops_append_sum)                                                                 \
  F(dnnl_post_ops_append_eltwise)                                                             \
  F(dnnl_primitive_desc_query)                                                                \
  F(dnnl_primitive_desc_query_md)                                                             \
  F(dnnl_primitive_desc_next_impl)                                                            \
  F(dnnl_primitive_desc_destroy)                                                              \
  F(dnnl_primitive_create)                                                                    \
  F(dnnl_primitive_execute)                                                                   \
  F(dnnl_primitive_destroy)                                                                   \
  F(dnnl_reorder_primitive_desc_create)                                                       \
  F(dnnl_matmul_primitive_desc_create)                                                        \
  F(dnnl_convolution_forward_primitive_desc_create)                                           \
  F(dnnl_convolution_backward_data_primitive_desc_create)                                     \
  F(dnnl_convolution_backward_weights_primitive_desc_create)                                  \
  F(dnnl_set_primitive_cache_capacity)

struct Api {
#define RL_DNNL_MEMBER(name) decltype(&::name) name;
  RL_DNNL_FUNCTIONS(RL_DNNL_MEMBER)
#undef RL_DNNL_MEMBER
  dnnl_engine_t engine;
};

const Api& api();        // opens the library at the first call
dnnl_stream_t stream();  // this thread's

}  // namespace rl::onednn
