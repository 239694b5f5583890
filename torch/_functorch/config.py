"""Settings of the tracer of joint graphs: kept for programs that set them."""

import sys

from torch.utils._config_module import install_config_module

functionalize_rng_ops = False
fake_tensor_allow_meta = True
debug_assert = False
debug_partitioner = False
static_weight_shapes = True
cse = True
enable_autograd_cache = True
enable_remote_autograd_cache = None
view_replay_for_aliased_outputs = True
max_dist_from_bw = 1000
ban_recompute_used_far_apart = True
ban_recompute_long_fusible_chains = True
ban_recompute_materialized_backward = True
ban_recompute_not_in_allowlist = True
ban_recompute_reductions = True
recompute_views = False
activation_memory_budget = 1.0
activation_memory_budget_runtime_estimator = "flops"
activation_memory_budget_solver = "dp"
aggressive_recomputation = False
donated_buffer = True
unlift_effect_tokens = False

install_config_module(sys.modules[__name__])
