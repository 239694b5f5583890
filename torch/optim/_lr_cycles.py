"""Schedules that go up and down: CyclicLR, OneCycleLR and cosine annealing with restarts."""
import math

from ._lr_base import (LRScheduler, _check_optimizer, _enable_get_lr_call, _per_group, _public,
                       _set_group_value, _warn_get_lr)


def _momentum_key(optimizer):
    """Whether the optimizer's momentum is its first beta."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option "
                         "enabled")
    return "betas" in optimizer.defaults


def _set_momentum(group, use_beta1, value):
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    r"""Moves the rate up and down between two bounds (Smith, 2017), and the momentum opposite.

    Args:
        base_lr, max_lr: the bounds, one or one for each group.
        step_size_up, step_size_down: steps of the two halves; down is up if None.
        mode: ``"triangular"``, ``"triangular2"`` (halved each cycle) or ``"exp_range"``.
        gamma: base of ``"exp_range"``.
        scale_fn: factor of the height, in place of a mode; of the cycle or the step
            (``scale_mode`` ``"cycle"`` or ``"iterations"``).
        cycle_momentum, base_momentum, max_momentum: the same for the momentum.
    """

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None,
                 mode="triangular", gamma=1.0, scale_fn=None, scale_mode="cycle",
                 cycle_momentum=True, base_momentum=0.8, max_momentum=0.9, last_epoch=-1):
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = list(_per_group("base_lr", base_lr, optimizer))
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups):
                _set_group_value(group, "lr", lr)
        self.max_lrs = list(_per_group("max_lr", max_lr, optimizer))
        up = float(step_size_up)
        down = float(step_size_down) if step_size_down is not None else up
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._init_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_momentum(self, base_momentum, max_momentum, last_epoch):
        self.use_beta1 = _momentum_key(self.optimizer)
        self.base_momentums = list(_per_group("base_momentum", base_momentum, self.optimizer))
        self.max_momentums = list(_per_group("max_momentum", max_momentum, self.optimizer))
        if last_epoch == -1:
            for high, low, group in zip(self.max_momentums, self.base_momentums,
                                        self.optimizer.param_groups):
                _set_momentum(group, self.use_beta1, high)
                group["max_momentum"] = high
                group["base_momentum"] = low

    def _init_scale_fn(self):
        if self._scale_fn_custom is not None:
            return
        if self.mode == "triangular":
            self._scale_fn_ref = self._triangular_scale_fn
            self.scale_mode = "cycle"
        elif self.mode == "triangular2":
            self._scale_fn_ref = self._triangular2_scale_fn
            self.scale_mode = "cycle"
        else:
            from functools import partial

            self._scale_fn_ref = partial(self._exp_range_scale_fn, self.gamma)
            self.scale_mode = "iterations"

    def scale_fn(self, x):
        """The factor of the height, of a cycle's or a step's number."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return self._scale_fn_ref(x)

    @staticmethod
    def _triangular_scale_fn(x):
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x):
        return 1 / (2.0 ** (x - 1))

    @staticmethod
    def _exp_range_scale_fn(gamma, x):
        return gamma ** x

    def get_lr(self):
        """The rates that a step would set; sets the momentum."""
        _warn_get_lr(self)
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        rise = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        at = cycle if self.scale_mode == "cycle" else self.last_epoch
        rates = [low + (high - low) * rise * self.scale_fn(at)
                 for low, high in zip(self.base_lrs, self.max_lrs)]
        if self.cycle_momentum:
            for low, high, group in zip(self.base_momentums, self.max_momentums,
                                        self.optimizer.param_groups):
                value = high - (high - low) * rise * self.scale_fn(at)
                _set_momentum(group, self.use_beta1, value)
        return rates

    def state_dict(self):
        """Like the base's; of a scale function only a callable object's ``__dict__``."""
        import types

        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        fn = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = None
        if fn is not None and not isinstance(fn, types.FunctionType):
            state["_scale_fn_custom"] = dict(fn.__dict__)
        return state

    def load_state_dict(self, state_dict):
        """Takes over what :meth:`state_dict` returned."""
        state = dict(state_dict)
        fn = state.pop("_scale_fn_custom")
        super().load_state_dict(state)
        if fn is not None:
            self._scale_fn_custom.__dict__.update(fn)
        self._init_scale_fn()


class CosineAnnealingWarmRestarts(LRScheduler):
    r"""Half cosines from the initial rate to ``eta_min`` (SGDR: Loshchilov and Hutter, 2017).

    The first takes ``T_0`` epochs, each further one ``T_mult`` times as long.
    """

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type "
                             f"{type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The rates that a step would set."""
        _warn_get_lr(self)
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch=None):
        """Moves one epoch on, or to ``epoch``, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            self._jump(epoch)
        self.last_epoch = math.floor(epoch)
        with _enable_get_lr_call(self):
            self._set_lrs(self.get_lr())

    def _jump(self, epoch):
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            # n cycles make T_0 * (T_mult^n - 1) / (T_mult - 1) epochs.
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult ** n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult ** n


def _check_one_cycle(total_steps, epochs, steps_per_epoch):
    """-> the number of steps."""
    if total_steps is not None:
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return epochs * steps_per_epoch


def _phase(end_step, lrs, momentums):
    return {"end_step": end_step, "start_lr": lrs[0], "end_lr": lrs[1],
            "start_momentum": momentums[0], "end_momentum": momentums[1]}


class OneCycleLR(LRScheduler):
    r"""One rise to a large rate and a fall far below the first one (Smith and Topin, 2019).

    Args:
        max_lr: the largest rate, one or one for each group.
        total_steps: number of steps, or ``epochs`` times ``steps_per_epoch``.
        pct_start: part of the steps in which the rate rises.
        anneal_strategy: ``"cos"`` or ``"linear"``.
        cycle_momentum, base_momentum, max_momentum: move the momentum opposite to the rate.
        div_factor: ``max_lr`` over the first rate.
        final_div_factor: the first rate over the last one.
        three_phase: fall as long as the rise to the first rate, and only then to the last.
    """

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None,
                 pct_start=0.3, anneal_strategy="cos", cycle_momentum=True, base_momentum=0.85,
                 max_momentum=0.95, div_factor=25.0, final_div_factor=1e4, three_phase=False,
                 last_epoch=-1):
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _check_one_cycle(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = self._phases(pct_start, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError("anneal_strategy must be one of 'cos' or 'linear', instead got "
                             f"{anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        max_lrs = _per_group("max_lr", max_lr, optimizer)
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, max_lrs):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _momentum_key(optimizer)
            highs = _per_group("max_momentum", max_momentum, optimizer)
            lows = _per_group("base_momentum", base_momentum, optimizer)
            if last_epoch == -1:
                for high, low, group in zip(highs, lows, optimizer.param_groups):
                    _set_momentum(group, self.use_beta1, high)
                    group["max_momentum"] = high
                    group["base_momentum"] = low
        super().__init__(optimizer, last_epoch)

    def _phases(self, pct_start, three_phase):
        rise = float(pct_start * self.total_steps) - 1
        up = _phase(rise, ("initial_lr", "max_lr"), ("max_momentum", "base_momentum"))
        end = self.total_steps - 1
        if not three_phase:
            return [up, _phase(end, ("max_lr", "min_lr"), ("base_momentum", "max_momentum"))]
        middle = float(2 * pct_start * self.total_steps) - 2
        return [up,
                _phase(middle, ("max_lr", "initial_lr"), ("base_momentum", "max_momentum")),
                _phase(end, ("initial_lr", "min_lr"), ("max_momentum", "max_momentum"))]

    def _anneal_func(self, *args, **kwargs):
        if self._anneal_func_type == "cos":
            return self._annealing_cos(*args, **kwargs)
        return self._annealing_linear(*args, **kwargs)

    @staticmethod
    def _annealing_cos(start, end, pct):
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start, end, pct):
        return (end - start) * pct + start

    def get_lr(self):
        """The rates that a step would set; sets the momentum."""
        _warn_get_lr(self)
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is "
                             f"{self.total_steps}")
        start = 0.0
        for phase in self._schedule_phases:
            if step <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        pct = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._anneal_func(group[phase["start_lr"]], group[phase["end_lr"]], pct))
            if self.cycle_momentum:
                _set_momentum(group, self.use_beta1, self._anneal_func(
                    group[phase["start_momentum"]], group[phase["end_momentum"]], pct))
        return rates


_public(globals())
