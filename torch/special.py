"""torch.special: special functions, those of torch by their names in mathematics and SciPy."""

import torch
from torch import _C

_C._fill_namespace(globals(), "_special")

# Functions that torch has under other names, or under the same.
_ALIASES = {
    "expit": "sigmoid", "gammaln": "lgamma", "psi": "digamma", "multigammaln": "mvlgamma",
    "gammainc": "igamma", "gammaincc": "igammac", "erf": "erf", "erfc": "erfc", "exp2": "exp2",
    "expm1": "expm1", "log1p": "log1p", "xlogy": "xlogy", "round": "round", "softmax": "softmax",
    "log_softmax": "log_softmax", "logsumexp": "logsumexp",
}
for _name, _source in _ALIASES.items():
    if _name not in globals() and hasattr(torch, _source):
        globals()[_name] = getattr(torch, _source)
del _name, _source

__all__ = sorted(_n for _n in globals() if not _n.startswith("_") and _n not in ("torch",))
