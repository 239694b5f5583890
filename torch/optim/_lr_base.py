"""What all learning rate schedules share: the base class, and access to the groups' options."""
import warnings
import weakref

import torch

from .optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use `scheduler.step()` to step the scheduler. During the deprecation, if "
    "epoch is different from None, the closed form is used instead of the new chainable form, "
    "where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose.")
_SEE = ("See more details at "
        "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate")


def _check_optimizer(optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _warn_get_lr(scheduler):
    if not scheduler._get_lr_called_within_step:
        warnings.warn("To get the last learning rate computed by the scheduler, please use "
                      "`get_last_lr()`.", UserWarning, stacklevel=3)


def _copy(value):
    return value.clone() if isinstance(value, torch.Tensor) else value


def _group_values(optimizer, key):
    """The option of every group; tensors are copied, since groups change them in place."""
    return [_copy(group[key]) for group in optimizer.param_groups]


def _set_group_value(group, key, value):
    """Writes into a tensor that is there, so that whoever holds it sees the change."""
    if isinstance(group[key], torch.Tensor):
        group[key].fill_(value.item() if isinstance(value, torch.Tensor) else value)
    else:
        group[key] = value


def _per_group(name, value, optimizer):
    """A list with one value per group, out of one value or such a list."""
    groups = optimizer.param_groups
    if not isinstance(value, (list, tuple)):
        return [value] * len(groups)
    if len(value) != len(groups):
        raise ValueError(f"{name} must have the same length as optimizer.param_groups. "
                         f"{name} has {len(value)} values, param_groups has {len(groups)}.")
    return value


def _count_steps(optimizer):
    """Wraps the instance's step so that it leaves a mark: schedules check the order of calls."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    step = optimizer.step
    func = getattr(step, "__func__", None)
    ref = weakref.ref(optimizer)

    def wrapper(*args, **kwargs):
        owner = ref()
        owner._opt_called = True
        if func is None:
            return step(*args, **kwargs)
        return func(owner, *args, **kwargs)

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(wrapper, name, getattr(step, name, None))
    wrapper.__wrapped__ = func or step
    wrapper._wrapped_by_lr_sched = True
    optimizer.step = wrapper


class _FlagOn:
    """Sets a flag of the scheduler inside a with block."""

    name = ""

    def __init__(self, o):
        self.o = o

    def __enter__(self):
        setattr(self.o, self.name, True)
        return self

    def __exit__(self, kind, value, trace):
        setattr(self.o, self.name, False)


class _enable_get_lr_call(_FlagOn):
    name = "_get_lr_called_within_step"


class _initial_mode(_FlagOn):
    name = "_is_initial"


class LRScheduler:
    r"""Base of the schedules.

    Subclasses define :meth:`get_lr`: the groups' new rates, computed from their present ones.

    Args:
        optimizer: whose groups are changed.
        last_epoch: number of the last step when resuming, -1 to start.

    Raises:
        TypeError: ``optimizer`` is none.
        KeyError: resuming although the groups have no ``initial_lr``.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copy(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                    "scheduler with last_epoch >= 0.\nThis typically happens when:\n1. You're "
                    "trying to resume training from a checkpoint but haven't properly loaded "
                    "the optimizer state\n2. You're using last_epoch >= 0 for a fresh training "
                    "run (not recommended)")
        self.base_lrs = _group_values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _count_steps(optimizer)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        with _initial_mode(self):
            self.step()

    def state_dict(self):
        """Everything the schedule knows, except the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        """Takes over what :meth:`state_dict` returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates that the last step set."""
        return self._last_lr

    def get_lr(self):
        """The rates that a step would set."""
        raise NotImplementedError

    def step(self, epoch=None):
        """Moves to the next epoch, or to ``epoch``, and sets the groups' rates."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self):
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn("Seems like `optimizer.step()` has been overridden after learning rate "
                          "scheduler initialization. Please, make sure to call `optimizer.step()` "
                          "before `lr_scheduler.step()`. " + _SEE, UserWarning, stacklevel=3)
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`. "
                          "In PyTorch 1.1.0 and later, you should call them in the opposite "
                          "order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to "
                          "do this will result in PyTorch skipping the first value of the "
                          "learning rate schedule. " + _SEE, UserWarning, stacklevel=3)

    def _update_lr(self, epoch=None):
        with _enable_get_lr_call(self):
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", None)
                values = self.get_lr() if closed is None else closed()
        self._set_lrs(values)

    def _set_lrs(self, values):
        for group, lr in zip(self.optimizer.param_groups, values):
            _set_group_value(group, "lr", lr)
        self._last_lr = _group_values(self.optimizer, "lr")

    def _scaled(self, factor):
        return [group["lr"] * factor for group in self.optimizer.param_groups]


class _LRScheduler(LRScheduler):
    """The older name of :class:`LRScheduler`."""


def _public(namespace):
    """Makes classes defined in a private file members of ``torch.optim.lr_scheduler``."""
    for value in namespace.values():
        if isinstance(value, type) and value.__module__ == namespace["__name__"]:
            value.__module__ = "torch.optim.lr_scheduler"


_public(globals())
