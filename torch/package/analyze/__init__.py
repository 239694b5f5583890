"""Questions about packages."""

from torch._missing import add_missing
from torch.package import is_from_package  # noqa: F401

add_missing(globals(), "torch.package.analyze",
            "find_first_use_of_broken_modules trace_dependencies")
