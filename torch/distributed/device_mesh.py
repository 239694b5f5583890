"""Meshes of devices: the names only, for annotations and `isinstance`."""

from torch.distributed._absent import absent_class, absent_function

DeviceMesh = absent_class("DeviceMesh", __name__, doc="Devices arranged along named dimensions.")
init_device_mesh = absent_function("init_device_mesh", __name__)

__all__ = ["init_device_mesh", "DeviceMesh"]
