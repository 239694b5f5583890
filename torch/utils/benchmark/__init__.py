"""torch.utils.benchmark: times of small programs, tables of them, random inputs for them."""

from torch.utils.benchmark.utils.common import (  # noqa: F401
    Measurement,
    TaskSpec,
    ordered_unique,
    select_unit,
    set_torch_threads,
    trim_sigfig,
    unit_to_english,
)
from torch.utils.benchmark.utils.compare import Colorize, Compare  # noqa: F401
from torch.utils.benchmark.utils.fuzzer import (  # noqa: F401
    FuzzedParameter,
    FuzzedTensor,
    Fuzzer,
    ParameterAlias,
)
from torch.utils.benchmark.utils.sparse_fuzzer import FuzzedSparseTensor  # noqa: F401
from torch.utils.benchmark.utils.timer import Language, Timer, timer  # noqa: F401
