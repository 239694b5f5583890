"""torch.linalg: decompositions, solvers, norms and products of matrices.

The functions come from the core, where their names start with ``linalg_``.
"""

from torch import _C

LinAlgError = _C._LinAlgError

_PREFIX = "linalg_"
for _name in dir(_C._linalg):
    if not _name.startswith("__"):
        globals()[_name[len(_PREFIX):] if _name.startswith(_PREFIX) else _name] = getattr(
            _C._linalg, _name)
del _name

__all__ = sorted(n for n in globals() if not n.startswith("_"))
