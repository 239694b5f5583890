"""Calls of operators that make tensors, of random ones and of the fused optimizer steps."""

import torch

from . import C


def step(states, **numbers):
    """A fused optimizer step: parameters, gradients, state lists, counts."""

    def make(g):
        lists = [[g.x(3, 4), g.x(2)] for _ in range(2 + states)]
        return [C(*lists, [torch.tensor(3.0), torch.tensor(3.0)], **numbers)]

    return make


ADAM = dict(lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.1, eps=1e-8, amsgrad=True, maximize=False)
CASES = {
    "none": lambda g: [],  # an operator that no Python name reaches
    "sparse": lambda g: [],  # sparse tensors have tests of their own
    "sizes": lambda g: [C((2, 3), dtype=g.d), C((), dtype=g.d), C((2, 0), dtype=g.d)],
    "normal_sizes": lambda g: [C((2, 3), dtype=g.d), C((40,), dtype=g.d)],
    "full": lambda g: [C((2, 3), 1, dtype=g.d)],
    "strided_sizes": lambda g: [C((2, 3), (1, 2), dtype=g.d)],
    "empty_permuted": lambda g: [C((2, 3, 4), (2, 0, 1), dtype=g.d)],
    "like": lambda g: [C(g.x(2, 3)), C(g.x(2, 3), dtype=torch.float32)],
    "full_like": lambda g: [C(g.x(2, 3), 1)],
    "new": lambda g: [C(g.x(2), (2, 3))],
    "new_strided": lambda g: [C(g.x(2), (2, 3), (1, 2))],
    "new_full": lambda g: [C(g.x(2), (2, 3), 1)],
    "arange": lambda g: [C(5, dtype=g.d)],
    "arange.start_step": lambda g: [C(1, 9, 2, dtype=g.d), C(1, 5, dtype=g.d)],
    "linspace": lambda g: [C(1, 9, 5, dtype=g.d), C(0, 3, 1, dtype=g.d)],
    "linspace.Tensor_Tensor": lambda g: [C(torch.tensor(0.5), torch.tensor(2.0), 4, dtype=g.d)],
    "linspace.Tensor_Scalar": lambda g: [C(torch.tensor(0.5), 2.0, 4, dtype=g.d)],
    "linspace.Scalar_Tensor": lambda g: [C(0.5, torch.tensor(2.0), 4, dtype=g.d)],
    "logspace": lambda g: [C(1, 2, 3, dtype=g.d), C(0, 3, 4, base=2.0, dtype=g.d)],
    "eye": lambda g: [C(3, dtype=g.d)],
    "eye.m": lambda g: [C(3, 2, dtype=g.d)],
    "scalar_tensor": lambda g: [C(1, dtype=g.d)],
    "triangle_indices": lambda g: [C(3, 4), C(3, 4, 1)],
    "window": lambda g: [C(7, dtype=g.d), C(6, periodic=False, dtype=g.d)],
    "clone": lambda g: [C(g.x(3, 4)), C(g.x(2, 3, 4, 5), memory_format=torch.channels_last)],
    "copy": lambda g: [C(g.x(3, 4), g.x(3, 4)), C(g.x(3, 4), g.x(4))],
    "triangle": lambda g: [C(g.x(3, 4)), C(g.x(2, 3, 3), 1), C(g.x(3, 4), -1)],
    "randint": lambda g: [C(9, (3, 4), dtype=g.d)],
    "randint.low": lambda g: [C(2, 9, (3, 4), dtype=g.d)],
    "randint_like": lambda g: [C(g.x(3, 4), 9)],
    "randint_like.low_dtype": lambda g: [C(g.x(3, 4), 2, 9)],
    "randint_like.Tensor": lambda g: [C(g.x(3, 4), torch.tensor(9))],
    "randperm": lambda g: [C(6, dtype=g.d)],
    "normal.Tensor_float": lambda g: [C(g.n(3, 4)), C(g.n(3), 2.0)],
    "normal.float_Tensor": lambda g: [C(1.0, g.r(3, 4))],
    "normal.Tensor_Tensor": lambda g: [C(g.n(3, 4), g.r(4))],
    "normal.float_float": lambda g: [C(1.0, 2.0, (3, 4), dtype=g.d)],
    "geometric": lambda g: [C(g.x(3, 4), 0.3)],
    "random_.from": lambda g: [C(g.x(3, 4), 1, 2)],
    "random_.to": lambda g: [C(g.x(3, 4), 2)],
    "probability": lambda g: [C(g.r(3, 4)), C(g.r())],
    "bernoulli.p": lambda g: [C(g.x(3, 4), 0.3)],
    "bernoulli.Tensor": lambda g: [C(g.x(3, 4), g.x(4, dtype=torch.float64))],
    "multinomial": lambda g: [C(g.r(3, 4), 2), C(g.r(4), 6, True)],
    "binomial": lambda g: [C(g.r(3, 4) + 5, g.r(3, 4))],
    "gamma": lambda g: [C(g.x(3, 4)), C(g.x(5) + 2), C(g.x(4) * 30 + 5)],
    "gamma_grad": lambda g: [C(g.x(3, 4), g.x(3, 4)), C(g.x(4) * 20 + 5, g.x(4) * 20 + 5)],
    "dirichlet_grad": lambda g: [C(g.x(4) * 0.5, g.x(4) + 1, g.x(4) + 4)],
    "dropout": lambda g: [C(g.x(3, 4), 0.4, True), C(g.x(3, 4), 0.4, False)],
    "feature_dropout": lambda g: [C(g.x(3, 4, 2), 0.4, True), C(g.x(3, 4), 0.4, False)],
    "rrelu": lambda g: [C(g.n(3, 4)), C(g.n(3, 4), 0.1, 0.3, True)],
    "rrelu_with_noise": lambda g: [
        C(g.n(3, 4), g.x(3, 4)),
        C(g.n(3, 4), g.x(3, 4), 0.1, 0.3, True),
    ],
    "_fused_sgd_": lambda g: [
        C(
            [g.x(3, 4)],
            [g.x(3, 4)],
            [g.x(3, 4)],
            weight_decay=0.1,
            momentum=0.9,
            lr=0.1,
            dampening=0.0,
            nesterov=True,
            maximize=False,
            is_first_step=False,
        )
    ],
    "_fused_adam_": step(3, **ADAM),
    "_fused_adagrad_": step(1, lr=0.1, lr_decay=0.1, weight_decay=0.1, eps=1e-8, maximize=False),
}
