"""Modules that change while they are compiled. There is nothing to guard."""


def unsafe_disable_mutation_guards():
    pass


def is_dynamic_nn_module(obj, is_export=False):
    """May the module's attributes change?"""
    return bool(getattr(obj, "torchdynamo_force_dynamic", False))
