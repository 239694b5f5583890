"""`Fuzzer`: random parameters and tensors for benchmarks over many shapes. Needs numpy."""

import functools
import itertools
import math

import torch

__all__ = ["Fuzzer", "FuzzedParameter", "ParameterAlias", "FuzzedTensor"]

_DISTRIBUTIONS = ("loguniform", "uniform")


class ParameterAlias:
    """Stands for the value of another parameter in a distribution."""

    def __init__(self, alias_to):
        self.alias_to = alias_to

    def __repr__(self):
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedParameter:
    """A random number: "uniform" or "loguniform" in [minval, maxval], or {value: probability}."""

    def __init__(self, name, minval=None, maxval=None, distribution=None, strict=False):
        self._name, self._minval, self._maxval = name, minval, maxval
        self.strict = strict
        if isinstance(distribution, dict):
            total = sum(distribution.values())
            if abs(total - 1) > 1e-9:
                distribution = {key: value / total for key, value in distribution.items()}
        else:
            assert distribution in _DISTRIBUTIONS, f"Unknown distribution: {distribution}"
            assert minval is not None and maxval is not None, (
                f"{distribution} needs minval and maxval")
        self._distribution = distribution

    @property
    def name(self):
        return self._name

    def sample(self, state):
        """A value, drawn from a numpy RandomState."""
        if self._distribution == "loguniform":
            return self._loguniform(state)
        if self._distribution == "uniform":
            return self._uniform(state)
        return self._custom_distribution(state)

    def _loguniform(self, state):
        low, high = math.log2(self._minval), math.log2(self._maxval)
        value = 2 ** state.uniform(low=low, high=high)
        if isinstance(self._minval, int) and isinstance(self._maxval, int):
            value = int(round(value))
        return min(max(value, self._minval), self._maxval)

    def _uniform(self, state):
        if isinstance(self._minval, int) and isinstance(self._maxval, int):
            return int(state.randint(low=self._minval, high=self._maxval + 1))
        return state.uniform(low=self._minval, high=self._maxval)

    def _custom_distribution(self, state):
        choices = list(self._distribution)
        index = state.choice(len(choices), p=list(self._distribution.values()))
        return choices[index]


def _prod(values, base=1):
    return functools.reduce(lambda x, y: int(x) * int(y), values, base)


class FuzzedTensor:
    """A tensor whose sizes (and steps of its memory) are numbers or names of parameters.

    It is not contiguous in a part of the cases: dimensions are permuted with the probability
    `1 - probability_contiguous`, or by `roll_parameter`.
    """

    def __init__(self, name, size, steps=None, probability_contiguous=0.5, min_elements=None,
                 max_elements=None, max_allocation_bytes=None, dim_parameter=None,
                 roll_parameter=None, dtype=torch.float32, cuda=False, tensor_constructor=None):
        self._name, self._size, self._steps = name, size, steps
        self._probability_contiguous = probability_contiguous
        self._min_elements, self._max_elements = min_elements, max_elements
        self._max_allocation_bytes = max_allocation_bytes
        self._dim_parameter, self._roll_parameter = dim_parameter, roll_parameter
        self._dtype, self._cuda, self._tensor_constructor = dtype, cuda, tensor_constructor

    @property
    def name(self):
        return self._name

    @staticmethod
    def default_tensor_constructor(size, dtype, **kwargs):
        """Random numbers: normal for floats and complex, integers in [0, 127)."""
        if dtype.is_floating_point or dtype.is_complex:
            return torch.rand(size=size, dtype=dtype, device="cpu")
        return torch.randint(1, 127, size=size, dtype=dtype, device="cpu")

    def _get_size_and_steps(self, params):
        dim = (params[self._dim_parameter] if self._dim_parameter is not None
               else len(self._size))

        def resolve(values):
            out = [params.get(v, v) if isinstance(v, str) else v for v in values[:dim]]
            return tuple(out) + (1,) * (dim - len(out))

        size = resolve(self._size)
        steps = resolve(self._steps or ())
        return size, steps, tuple(s * step for s, step in zip(size, steps))

    def satisfies_constraints(self, params):
        """Whether the tensor of these parameters is within the limits."""
        size, _, allocation = self._get_size_and_steps(params)
        elements = _prod(size)
        if self._max_elements is not None and elements > self._max_elements:
            return False
        if self._min_elements is not None and elements < self._min_elements:
            return False
        nbytes = _prod(allocation, base=self._dtype.itemsize)
        return self._max_allocation_bytes is None or nbytes <= self._max_allocation_bytes

    def _make_tensor(self, params, state):
        size, steps, allocation = self._get_size_and_steps(params)
        constructor = self._tensor_constructor or self.default_tensor_constructor
        raw = constructor(size=allocation, dtype=self._dtype, **params)
        if self._cuda:
            raw = raw.cuda()
        dim = len(size)
        order = list(range(dim))
        if self._roll_parameter is not None:
            assert dim == raw.dim()
            shift = params[self._roll_parameter] % dim
            order = order[shift:] + order[:shift]
        elif dim > 1 and state.rand() > self._probability_contiguous:
            order = [int(i) for i in state.permutation(dim)]
        raw = raw.permute(tuple(order)).contiguous()
        back = sorted(range(dim), key=order.__getitem__)
        tensor = raw.permute(tuple(back))[tuple(slice(None, None, step) for step in steps)]
        return tensor, {
            "numel": int(tensor.numel()), "order": order, "steps": steps,
            "is_contiguous": tensor.is_contiguous(), "dtype": str(self._dtype)}


class Fuzzer:
    """Draws parameters and the tensors that they describe, within constraints."""

    def __init__(self, parameters, tensors, constraints=None, seed=None):
        import numpy as np

        if seed is None:
            seed = int(np.random.RandomState().randint(0, 2**32 - 1, dtype=np.int64))
        self._seed = seed
        self._parameters = self._unpack(parameters, FuzzedParameter)
        self._tensors = self._unpack(tensors, FuzzedTensor)
        self._constraints = constraints or ()
        names = [item.name for item in self._parameters + self._tensors]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError("Parameter names and tensor names must be unique, but "
                             f"{sorted(twice)} are not")
        self._rejections = self._total_generated = 0

    @staticmethod
    def _unpack(values, cls):
        return tuple(itertools.chain.from_iterable(
            [value] if isinstance(value, cls) else value for value in values))

    def take(self, n):
        """Yields `n` times (tensors, facts about the tensors, parameters)."""
        import numpy as np

        state = np.random.RandomState(self._seed)
        for _ in range(n):
            params = self._generate(state)
            tensors, facts = {}, {}
            for fuzzed in self._tensors:
                tensors[fuzzed.name], facts[fuzzed.name] = fuzzed._make_tensor(params, state)
            yield tensors, facts, params

    @property
    def rejection_rate(self):
        """The part of the draws that did not meet the constraints."""
        return self._rejections / self._total_generated if self._total_generated else 0.0

    def _generate(self, state):
        strict = {}
        for _ in range(1000):
            candidate = {}
            for parameter in self._parameters:
                if parameter.strict:
                    # The same in all tries, so that the constraints do not shift its distribution
                    if parameter.name not in strict:
                        strict[parameter.name] = parameter.sample(state)
                    candidate[parameter.name] = strict[parameter.name]
                else:
                    candidate[parameter.name] = parameter.sample(state)
            candidate = self._resolve_aliases(candidate)
            self._total_generated += 1
            if (all(constraint(candidate) for constraint in self._constraints)
                    and all(t.satisfies_constraints(candidate) for t in self._tensors)):
                return candidate
            self._rejections += 1
        raise ValueError("Failed to generate a set of valid parameters.")

    @staticmethod
    def _resolve_aliases(params):
        params = dict(params)
        for name in params:
            seen = {name}
            while isinstance(params[name], ParameterAlias):
                target = params[name].alias_to
                if target in seen:
                    raise ValueError(f"Parameter aliases form a circle: {sorted(seen)}")
                seen.add(target)
                params[name] = params[target]
        return params
