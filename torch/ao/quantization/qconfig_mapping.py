"""`QConfigMapping`: a `QConfig` for each kind of module, function or path."""

from collections import OrderedDict

from torch.ao.quantization.qconfig import get_default_qat_qconfig, get_default_qconfig

__all__ = ["get_default_qconfig_mapping", "get_default_qat_qconfig_mapping", "QConfigMapping"]

_KEYS = {"": "global_qconfig", "object_type": "object_type_qconfigs",
         "module_name_regex": "module_name_regex_qconfigs", "module_name": "module_name_qconfigs",
         "module_name_object_type_order": "module_name_object_type_order_qconfigs"}


class QConfigMapping:
    """Later kinds of entry win: global, type, regular expression, path, path and type and order.

    The setters return the mapping.
    """

    def __init__(self):
        self.global_qconfig = None
        self.object_type_qconfigs = OrderedDict()
        self.module_name_regex_qconfigs = OrderedDict()
        self.module_name_qconfigs = OrderedDict()
        self.module_name_object_type_order_qconfigs = OrderedDict()

    def set_global(self, global_qconfig):
        self.global_qconfig = global_qconfig
        return self

    def set_object_type(self, object_type, qconfig):
        """For modules of a class, calls of a function, or of a method by name."""
        self.object_type_qconfigs[object_type] = qconfig
        return self

    def set_module_name_regex(self, module_name_regex, qconfig):
        self.module_name_regex_qconfigs[module_name_regex] = qconfig
        return self

    def set_module_name(self, module_name, qconfig):
        self.module_name_qconfigs[module_name] = qconfig
        return self

    def set_module_name_object_type_order(self, module_name, object_type, index, qconfig):
        """For the call number `index` of a type inside a module."""
        self.module_name_object_type_order_qconfigs[(module_name, object_type, index)] = qconfig
        return self

    def __repr__(self):
        text = f"{self.__class__.__name__} ("
        for key in _KEYS.values():
            value = getattr(self, key)
            text += f"\n {key}"
            if key == "global_qconfig":
                text += f"\n  {value}" if value is not None else "\n  None"
            else:
                text += "".join(f"\n  {k}: {v}" for k, v in value.items())
        return text + "\n)"

    def to_dict(self):
        """The older form: a dictionary."""
        result = {"": self.global_qconfig}
        for key, name in _KEYS.items():
            if key:
                items = getattr(self, name).items()
                result[key] = [(*k, v) if isinstance(k, tuple) else (k, v) for k, v in items]
        return result

    @classmethod
    def from_dict(cls, qconfig_dict):
        """From `to_dict`'s form."""
        result = cls()
        result.set_global(qconfig_dict.get(""))
        for k, v in qconfig_dict.get("object_type", []):
            result.set_object_type(k, v)
        for k, v in qconfig_dict.get("module_name_regex", []):
            result.set_module_name_regex(k, v)
        for k, v in qconfig_dict.get("module_name", []):
            result.set_module_name(k, v)
        for a, b, c, v in qconfig_dict.get("module_name_object_type_order", []):
            result.set_module_name_object_type_order(a, b, c, v)
        return result


def get_default_qconfig_mapping(backend="x86", version=0):
    """One `QConfig` for all."""
    return QConfigMapping().set_global(get_default_qconfig(backend, version))


def get_default_qat_qconfig_mapping(backend="x86", version=1):
    """One `QConfig` for all, for learning with simulated quantisation."""
    return QConfigMapping().set_global(get_default_qat_qconfig(backend, version))
