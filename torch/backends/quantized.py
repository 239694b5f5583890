"""The engine of quantised operators."""

from torch.backends._flags import install as _install

_install(__name__, engine="onednn", supported_engines=["none", "onednn"])
