"""Calls of element-wise operators."""

import torch

from . import C

CASES = {
    "unary": lambda g: [C(g.x(3, 4)), C(g.x()), C(g.x(2, 0))],
    "signed": lambda g: [C(g.n(3, 4)), C(g.n()), C(g.n(2, 0))],
    "above_one": lambda g: [C(g.x(3, 4, low=1.2, high=2.5)), C(g.x(low=1.2, high=2.5))],
    "binary": lambda g: [C(g.n(3, 4), g.n(3, 4)), C(g.n(3, 1), g.n(4)), C(g.n(), g.n(2, 0))],
    "binary_number": lambda g: [
        C(g.n(3, 4), g.n(3, 4)),
        C(g.n(3, 1), g.n(4)),
        C(g.n(3, 4), 2),
    ],
    "binary_alpha": lambda g: [
        C(g.n(3, 4), g.n(3, 4)),
        C(g.n(3, 1), g.n(4), alpha=2),
        C(g.n(3, 4), 2),
    ],
    "binary_any_number": lambda g: [
        C(g.x(3, 4), g.x(3, 4)),
        C(g.x(3, 1), g.x(4)),
        C(g.x(3, 4), 2),
        C(2, g.x(3)),
    ],
    "polynomial": lambda g: [
        C(g.x(3, 4), torch.tensor([0, 1, 2, 3])),
        C(g.x(3), 4),
        C(0.5, g.x(3)),
    ],
    "complex_unary": lambda g: [C(g.x(3, 4))] if g.d.is_complex else [],
    "complex_parts": lambda g: [C(g.n(3, 4), g.n(4))],
    "div.Tensor_mode": lambda g: [
        C(g.n(3, 4), g.n(3, 4), rounding_mode=None),
        C(g.n(3, 4), g.n(4), rounding_mode="floor"),
        C(g.n(3, 4), 2, rounding_mode="trunc"),
    ],
    "pow": lambda g: [C(g.x(3, 4), g.x(4)), C(g.x(3, 4), 2), C(g.x(3), 3), C(2, g.x(3))],
    "power_of_number": lambda g: [C(g.x(3, 4), g.x(4)), C(g.x(3, 4), 2.5), C(2, g.x(3))],
    "clamp_min": lambda g: [C(g.n(3, 4), 0)],
    "clamp": lambda g: [C(g.n(3, 4), 0, 1), C(g.n(3, 4), min=0), C(g.n(3, 4), max=1)],
    "clamp.Tensor": lambda g: (
        [C(g.n(3, 4), g.x(4) - g.x(4), g.x(3, 4)), C(g.n(3), max=g.x(3))]
        if g.d != torch.bool
        else [C(g.x(3), g.x(3), g.x(3))]
    ),
    "addcmul": lambda g: [C(g.n(3, 4), g.n(4), g.n(3, 1)), C(g.n(3), g.n(3), g.n(3), value=2)],
    "lerp.Scalar": lambda g: [C(g.n(3, 4), g.n(4), 0.3), C(g.n(3), g.n(3), 0.7)],
    "lerp.Tensor": lambda g: [C(g.n(3, 4), g.n(4), g.x(3, 1))],
    "ldexp": lambda g: [C(g.n(3, 4), g.i(3, 4))],
    "round.decimals": lambda g: [C(g.n(3, 4), decimals=1), C(g.n(3), decimals=0)],
    "nan_to_num": lambda g: [C(g.n(3, 4)), C(g.n(3), nan=1.0, posinf=2.0, neginf=-2.0)],
    "where": lambda g: [C(g.m(3, 4))],
    "where.self": lambda g: [C(g.m(3, 4), g.n(3, 4), g.n(4)), C(g.m(3), g.n(3), 2)],
    "where.method": lambda g: [C(g.n(3, 4), g.m(3, 4), g.n(4))],
    "integers": lambda g: [C(g.x(3, 4), g.x(3, 4)), C(g.x(3, 1), g.x(4))],
    "shifts": lambda g: [C(g.x(3, 4), g.x(4)), C(g.x(3, 4), 1)],
    "bitwise": lambda g: [C(g.n(3, 4), g.n(4)), C(g.n(3, 4), 1)],
    "isclose": lambda g: [C(g.n(3, 4), g.n(3, 4)), C(g.n(3), g.n(3), rtol=0.5, atol=0.1)],
    "hardtanh": lambda g: [C(g.n(3, 4)), C(g.n(3), -0.5, 0.5)],
    "threshold": lambda g: [C(g.n(3, 4), 0.2, 1.5), C(g.n(3), 0, 0)],
    "leaky_relu": lambda g: [C(g.n(3, 4)), C(g.n(3), 0.3)],
    "softplus": lambda g: [C(g.n(3, 4)), C(g.n(3), 2, 1)],
    "shrink": lambda g: [C(g.n(3, 4)), C(g.n(3), 0.3)],
    "elu": lambda g: [C(g.n(3, 4)), C(g.n(3), 0.7)],
    "gelu": lambda g: [C(g.n(3, 4)), C(g.n(3, 4), approximate="tanh")],
    "prelu": lambda g: [C(g.n(2, 3), g.x(1)), C(g.n(2, 3, 4), g.x(3))],
    "glu": lambda g: [C(g.n(4, 3), 0), C(g.n(3, 4))],
    "polygamma": lambda g: [C(1, g.x(3, 4)), C(0, g.x(3)), C(2, g.x(3))],
    "polygamma.method": lambda g: [C(g.x(3, 4), 1), C(g.x(3), 0)],
    "mvlgamma": lambda g: [C(g.x(3, 4) + 2, 2), C(g.x(3) + 3, 3)],
    "logit": lambda g: [C(g.x(3, 4)), C(g.x(3), 0.2)],
    "zeta": lambda g: [C(g.x(3, 4) + 2, g.x(4)), C(3, g.x(3)), C(g.x(3) + 2, 2)],
    "igamma": lambda g: [C(g.x(3, 4), g.x(3, 4)), C(g.x(3, 1), g.x(4))],
    "fill.Scalar": lambda g: [C(g.x(3, 4), 1)],
    "fill.Tensor": lambda g: [C(g.x(3, 4), g.x())],
}
