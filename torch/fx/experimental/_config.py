"""Settings of symbolic shapes: kept for programs that set them."""

import sys

from torch.utils._config_module import install_config_module

translation_validation = False
print_specializations = False
use_duck_shape = True
meta_nonzero_assume_all_nonzero = False
backed_size_oblivious = False
no_data_dependent_graph_break = False
extended_debug_guard_added = None
extended_debug_create_symbol = None
extended_debug_cpp = False
extended_debug_current_loc = False

install_config_module(sys.modules[__name__])
