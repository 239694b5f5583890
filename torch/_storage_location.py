"""Where storages are: tags of devices in files, and moving storages to them on loading.

Public through `torch.serialization`.
"""

import torch

_package_registry = []


def register_package(priority, tagger, deserializer):
    """Teaches `save` and `load` about a device.

    Args:
        priority: smaller comes first.
        tagger: ``storage -> str or None``, the tag of the device that it is on.
        deserializer: ``(storage, tag) -> storage or None``, moves a CPU storage there.
    """
    _package_registry.append((priority, tagger, deserializer))
    _package_registry.sort(key=lambda entry: entry[0])


def _tag_of(device_type):
    def tagger(storage):
        if storage.device.type != device_type:
            return None
        if device_type in ("cpu", "meta"):
            return device_type
        return f"{device_type}:{storage.device.index or 0}"

    return tagger


def _restore_cpu(storage, location):
    return storage if location == "cpu" else None


def _restore_meta(storage, location):
    if location != "meta":
        return None
    return torch.UntypedStorage(storage.nbytes(), device="meta")


def validate_cuda_device(location):
    """The index of a tag like ``"cuda:0"``. Raises RuntimeError without such a device."""
    return _validate_device(location, "cuda")


def validate_hpu_device(location):
    """As `validate_cuda_device`, for HPU."""
    return _validate_device(location, "hpu")


_ADVICE = (
    "If you are running on a CPU-only machine, please use torch.load with "
    "map_location=torch.device('cpu') to map your storages to the CPU."
)


def _validate_device(location, name):
    module = getattr(torch, name, None)
    if module is None or not hasattr(module, "is_available"):
        raise RuntimeError(f"The {name.upper()} device module is not registered. {_ADVICE}")
    if not module.is_available():
        raise RuntimeError(
            f"Attempting to deserialize object on a {name.upper()} device but "
            f"torch.{name}.is_available() is False. {_ADVICE}"
        )
    index = torch.device(location).index or 0
    count = module.device_count()
    if index >= count:
        raise RuntimeError(
            f"Attempting to deserialize object on {name.upper()} device {index} but "
            f"torch.{name}.device_count() is {count}. Please use torch.load with map_location "
            "to map your storages to an existing device."
        )
    return torch.device(name, index)


def _restore_on(name):
    def deserializer(storage, location):
        if not location.startswith(name):
            return None
        return storage.to(device=_validate_device(location, name))

    return deserializer


register_package(10, _tag_of("cpu"), _restore_cpu)
register_package(22, _tag_of("meta"), _restore_meta)
for _priority, _name in ((20, "cuda"), (21, "mps"), (24, "hpu"), (25, "xpu"), (26, "mtia")):
    register_package(_priority, _tag_of(_name), _restore_on(_name))


def location_tag(storage):
    """The tag of the device that a storage is on, such as ``"cpu"``."""
    for _, tagger, _ in _package_registry:
        tag = tagger(storage)
        if tag:
            return tag
    raise RuntimeError(f"don't know how to determine data location of {torch.typename(storage)}")


def default_restore_location(storage, location):
    """Moves a CPU storage to the device of a tag.

    Raises:
        RuntimeError: unknown tag, or no such device here.
    """
    for _, _, deserializer in _package_registry:
        result = deserializer(storage, location)
        if result is not None:
            return result
    raise RuntimeError(
        "don't know how to restore data location of "
        f"{torch.typename(storage)} (tagged with {location})"
    )


def _get_restore_location(map_location):
    """The function ``(storage, tag) -> storage`` for a `map_location` of any form."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(
            storage, map_location.get(location, location)
        )
    if isinstance(map_location, (str, bytes)):
        return lambda storage, location: default_restore_location(storage, map_location)
    if isinstance(map_location, torch.device):
        return lambda storage, location: default_restore_location(storage, str(map_location))

    def restore(storage, location):
        result = map_location(storage, location)
        return default_restore_location(storage, location) if result is None else result

    return restore


def parse_saved_id(saved_id):
    """Checks the persistent id of a storage in a pickle.

    Returns:
        (dtype, key, tag, number of elements, what follows).

    Raises:
        RuntimeError: it is not ``("storage", class, key, tag, number, ...)``.
    """
    if not isinstance(saved_id, tuple) or len(saved_id) < 5 or saved_id[0] != "storage":
        raise RuntimeError(f"Unknown typename for persistent_load in {type(saved_id)}")
    _, kind, key, location, numel, *rest = saved_id
    dtype = torch.uint8 if kind is torch.UntypedStorage else getattr(kind, "dtype", None)
    if isinstance(location, bytes):
        location = location.decode("ascii", "replace")
    if (
        not isinstance(dtype, torch.dtype)
        or not isinstance(key, (str, bytes, int))
        or not isinstance(location, str)
        or type(numel) is not int
        or numel < 0
    ):
        raise RuntimeError("a storage of the pickle is not described as it should be")
    return dtype, key, location, numel, rest
