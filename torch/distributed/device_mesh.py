"""Meshes of devices: the names only, for annotations and `isinstance`."""

from torch._missing import missing_class, missing_function

DeviceMesh = missing_class(__name__ + ".DeviceMesh")
init_device_mesh = missing_function(__name__ + ".init_device_mesh")

__all__ = ["init_device_mesh", "DeviceMesh"]
