"""`fuse_modules`: puts one fused module in the place of several that follow each other."""

import copy

import torch.ao.nn.intrinsic as nni
import torch.nn as nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = ["fuse_modules", "fuse_modules_qat", "fuse_known_modules"]


def _same_mode(*modules):
    if any(m.training != modules[0].training for m in modules):
        raise AssertionError("Conv and BN both must be in the same mode (train or eval).")


def fuse_conv_bn(is_qat, conv, bn):
    """Folds a batch norm into a convolution; for QAT keeps both in one module."""
    _same_mode(conv, bn)
    if is_qat:
        kinds = {nn.Conv1d: nni.ConvBn1d, nn.Conv2d: nni.ConvBn2d, nn.Conv3d: nni.ConvBn3d}
        if bn.num_features != conv.out_channels:
            raise AssertionError("Output channel of Conv2d must match num_features of BatchNorm2d")
        return kinds[type(conv)](conv, bn)
    return fuse_conv_bn_eval(conv, bn)


def fuse_conv_bn_relu(is_qat, conv, bn, relu):
    """Like `fuse_conv_bn`, with ReLU."""
    _same_mode(conv, bn, relu)
    if is_qat:
        kinds = {nn.Conv1d: nni.ConvBnReLU1d, nn.Conv2d: nni.ConvBnReLU2d,
                 nn.Conv3d: nni.ConvBnReLU3d}
        return kinds[type(conv)](conv, bn, relu)
    kinds = {nn.Conv1d: nni.ConvReLU1d, nn.Conv2d: nni.ConvReLU2d, nn.Conv3d: nni.ConvReLU3d}
    return kinds[type(conv)](fuse_conv_bn_eval(conv, bn), relu)


def fuse_linear_bn(is_qat, linear, bn):
    """Folds a batch norm into a linear layer; for QAT keeps both in one module."""
    _same_mode(linear, bn)
    return nni.LinearBn1d(linear, bn) if is_qat else fuse_linear_bn_eval(linear, bn)


def fuse_convtranspose_bn(is_qat, convt, bn):
    """Folds a batch norm into a transposed convolution."""
    _same_mode(convt, bn)
    if is_qat:
        raise Exception("Fusing ConvTranspose+BatchNorm not yet supported in QAT.")
    return fuse_conv_bn_eval(convt, bn, transpose=True)


def _sequence(cls):
    return lambda is_qat, *modules: cls(*modules)


_METHODS = {
    (nn.Linear, nn.ReLU): _sequence(nni.LinearReLU),
    (nn.Linear, nn.BatchNorm1d): fuse_linear_bn,
    (nn.BatchNorm2d, nn.ReLU): _sequence(nni.BNReLU2d),
    (nn.BatchNorm3d, nn.ReLU): _sequence(nni.BNReLU3d),
}
for _n in "123":
    _conv, _norm = getattr(nn, f"Conv{_n}d"), getattr(nn, f"BatchNorm{_n}d")
    _METHODS[(_conv, _norm)] = fuse_conv_bn
    _METHODS[(_conv, _norm, nn.ReLU)] = fuse_conv_bn_relu
    _METHODS[(_conv, nn.ReLU)] = _sequence(getattr(nni, f"ConvReLU{_n}d"))
    _METHODS[(getattr(nn, f"ConvTranspose{_n}d"), _norm)] = fuse_convtranspose_bn


def get_fuser_method(op_list, additional_fuser_method_mapping=None):
    """The function that fuses modules of these types. AssertionError if there is none."""
    methods = {**_METHODS, **(additional_fuser_method_mapping or {})}
    method = methods.get(tuple(op_list))
    if method is None:
        raise AssertionError(f"did not find fuser method for: {op_list} ")
    return method


def fuse_known_modules(mod_list, is_qat, additional_fuser_method_mapping=None):
    """The fused module, then identities for the others. Hooks move along."""
    method = get_fuser_method(tuple(type(m) for m in mod_list), additional_fuser_method_mapping)
    fused = method(is_qat, *mod_list)
    for hook in mod_list[0]._forward_pre_hooks.values():
        fused.register_forward_pre_hook(hook)
    mod_list[0]._forward_pre_hooks.clear()
    for hook in mod_list[-1]._forward_hooks.values():
        fused.register_forward_hook(hook)
    mod_list[-1]._forward_hooks.clear()
    rest = []
    for module in mod_list[1:]:
        identity = nn.Identity()
        identity.training = mod_list[0].training
        rest.append(identity)
    return [fused, *rest]


def _owner(model, path):
    *prefix, name = path.split(".")
    for part in prefix:
        model = getattr(model, part)
    return model, name


def _fuse(model, modules_to_fuse, is_qat, inplace, fuser_func, config):
    if not inplace:
        model = copy.deepcopy(model)
    methods = (config or {}).get("additional_fuser_method_mapping", {})
    groups = modules_to_fuse
    if all(isinstance(item, str) for item in groups):
        groups = [groups]
    for names in groups:
        modules = [getattr(*_owner(model, name)) for name in names]
        for name, module in zip(names, fuser_func(modules, is_qat, methods)):
            owner, last = _owner(model, name)
            setattr(owner, last, module)
    return model


def fuse_modules(model, modules_to_fuse, inplace=False, fuser_func=fuse_known_modules,
                 fuse_custom_config_dict=None):
    """Fuses modules of a model in evaluation mode.

    Args:
        modules_to_fuse: a list of paths, or a list of such lists: conv + bn (+ relu), conv + relu,
            linear + relu, bn + relu, ...
        inplace: change the model, not a copy.
    """
    return _fuse(model, modules_to_fuse, False, inplace, fuser_func, fuse_custom_config_dict)


def fuse_modules_qat(model, modules_to_fuse, inplace=False, fuser_func=fuse_known_modules,
                     fuse_custom_config_dict=None):
    """Fuses modules of a model that will learn with simulated quantisation."""
    return _fuse(model, modules_to_fuse, True, inplace, fuser_func, fuse_custom_config_dict)
