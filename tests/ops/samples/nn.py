"""Calls of network functions: convolutions, pooling, normalisation, losses, recurrent cells."""

import torch

from . import C


def conv(n):
    """Plain; strided, padded, dilated with bias; groups; without a batch dimension."""
    size = (5, 4, 4)[:n]
    kernel = (2, 3, 2)[:n]

    def make(g):
        return [
            C(g.n(2, 2, *size), g.n(3, 2, *kernel)),
            C(g.n(1, 2, *size), g.n(3, 2, *kernel), g.n(3), 2, 2, 1),
            C(g.n(1, 4, *size), g.n(2, 2, *kernel), g.n(2), 1, 1, 1, 2),
            C(g.n(2, *size), g.n(3, 2, *kernel), None, 1, 1, 2),
        ]

    return make


def conv_padding(n):
    size = (5, 4, 4)[:n]

    def make(g):
        w = g.n(3, 2, *(2, 3, 2)[:n])
        return [C(g.n(1, 2, *size), w, None, 1, "same"), C(g.n(1, 2, *size), w, None, 2, "valid")]

    return make


def conv_transpose(n):
    size = (4, 3, 3)[:n]
    kernel = (2, 3, 2)[:n]

    def make(g):
        return [
            C(g.n(1, 2, *size), g.n(2, 3, *kernel)),
            C(g.n(1, 2, *size), g.n(2, 3, *kernel), g.n(3), 2, 1, 1),
            C(g.n(1, 4, *size), g.n(4, 1, *kernel), g.n(2), 1, 0, 0, 2),
        ]

    return make


def pool(n, *rest):
    size = (6, 5, 4)[:n]
    return lambda g: [
        C(g.distinct(1, 2, *size), 2),
        C(g.distinct(1, 2, *size), 3, 2, 1),
        C(g.distinct(2, *size), 2, 2, 0, *rest),
    ]


def adaptive(n):
    size = (6, 5, 4)[:n]
    return lambda g: [C(g.distinct(1, 2, *size), [3] * n), C(g.distinct(2, *size), [2] * n)]


def fractional(n):
    size = (6, 5, 5)[:n]
    return lambda g: [C(g.distinct(1, 2, *size), [2] * n, [3] * n, g.r(1, 2, n))]


def unpool(g, n, *rest):
    x = torch.arange(8 if n == 2 else 16).to(g.d).reshape((1, 2) + (2,) * n)
    cells = 4**n
    at = torch.argsort(g.uniform(2, cells), 1)[:, : 2**n].reshape((1, 2) + (2,) * n)
    return C(x, at, [4] * n, *rest)


def upsample(n, *middle):
    size = (4, 3, 3)[:n]
    return lambda g: [
        C(g.n(1, 2, *size), [6] * n, *middle, None),
        C(g.n(1, 2, *size), None, *middle, [1.5] * n),
        C(g.n(1, 2, *size), [2] * n, *middle, None),
    ]


def interpolating(n):
    a, b = upsample(n, False), upsample(n, True)
    return lambda g: a(g) + b(g)[:1]


def sampler(*sizes):
    """Grids around the image, the modes and paddings."""

    def make(g):
        out = []
        for size in sizes:
            n = len(size)
            for mode, padding, align in ((0, 0, False), (1, 1, True), (0, 2, True), (2, 0, False)):
                if mode == 2 and n == 3:
                    continue
                grid = g.n(1, *(3,) * n, n, high=1.1)
                out.append(C(g.n(1, 2, *size), grid, mode, padding, align))
        return out

    return make


def loss(low=0.1, signed=False, targets="x"):
    def make(g):
        x = g.n if signed else g.x
        t = getattr(g, targets)
        return [C(x(3, 4), t(3, 4)), C(x(3, 4), t(3, 4), reduction=0), C(x(3), t(3), reduction=2)]

    return make


def sign(g, *size):
    return torch.where(g.m(*size), torch.ones((), dtype=g.d), -torch.ones((), dtype=g.d))


def nll(smooth):
    def make(g):
        x = [torch.log_softmax(g.n(*s), 1) if g.d.is_floating_point else g.n(*s) for s in
             ((4, 3), (2, 3, 2, 2))]  # fmt: skip
        out = [
            C(x[0], g.i(3, 4)),
            C(x[0], g.i(3, 4), g.x(3), 1, 1),
            C(x[1], g.i(3, 2, 2, 2), None, 0),
        ]
        if smooth:
            out.append(C(g.n(4, 3), g.i(3, 4), g.x(3), 1, -100, 0.2))
            out.append(C(g.n(4, 3), g.x(4, 3)))
        return out

    return make


def ctc(tensor_lengths):
    def make(g):
        lp = torch.log_softmax(g.n(6, 2, 4), 2) if g.d.is_floating_point else g.n(6, 2, 4)
        lengths = ([6, 5], [3, 2])
        if tensor_lengths:
            lengths = tuple(torch.tensor(v) for v in lengths)
        targets = torch.tensor([[1, 2, 2], [3, 1, 1]])
        return [C(lp, targets, *lengths, 0, r) for r in (0, 1, 2)]

    return make


def weights(g, gates, inputs=2, hidden=3):
    h = gates * hidden
    return [g.n(h, inputs), g.n(h, hidden), g.n(h), g.n(h)]


def rnn(gates, packed):
    def make(g):
        hx = [g.n(1, 2, 3) for _ in range(2 if gates == 4 else 1)]
        hx = hx if gates == 4 else hx[0]
        w = weights(g, gates)
        if packed:
            steps = torch.tensor([2, 2, 1])
            return [C(g.n(5, 2), steps, hx, w, True, 1, 0.0, False, False)]
        return [C(g.n(4, 2, 2), hx, w, True, 1, 0.0, False, False, False)]

    return make


def cell(gates):
    def make(g):
        hx = [g.n(2, 3), g.n(2, 3)] if gates == 4 else g.n(2, 3)
        w = weights(g, gates)
        return [C(g.n(2, 2), hx, *w), C(g.n(2, 2), hx, *w[:2])]

    return make


def attention(g):
    q, k, v = g.n(2, 2, 3, 4), g.n(2, 2, 5, 4), g.n(2, 2, 5, 4)
    return [
        C(q, k, v),
        C(q, k, v, g.m(3, 5) | torch.eye(3, 5, dtype=torch.bool)),
        C(q, k, v, g.n(3, 5), scale=0.3),
        C(q, k, v, is_causal=True),
        C(g.n(1, 4, 3, 4), g.n(1, 2, 5, 4), g.n(1, 2, 5, 4), enable_gqa=True),
    ]


def norm_stats(g):
    return g.r(3), g.r(3), g.r(3) - 0.5, g.r(3)


def batch_norm(training):
    def make(g):
        w, b, mean, var = norm_stats(g)
        return [
            C(g.n(4, 3), w, b, mean, var, training, 0.1, 1e-5, False),
            C(g.n(2, 3, 4), None, None, mean, var, not training, 0.1, 1e-5, False),
            C(g.n(2, 3, 4, 2), w, b, None, None, True, 0.1, 1e-5, False),
        ]

    return make


def instance_norm(g):
    w, b, mean, var = norm_stats(g)
    return [
        C(g.n(2, 3, 4), w, b, None, None, True, 0.1, 1e-5, False),
        C(g.n(2, 3, 4), w, b, mean, var, False, 0.1, 1e-5, False),
    ]


def pad(n):
    size = (4, 3, 3)[:n]
    return lambda g: [
        C(g.n(1, 2, *size), [1, 2] * n),
        C(g.n(2, *size), [1, 1] + [0, 2] * (n - 1)),
    ]


CASES = {
    "convolution": lambda g: [
        C(g.n(2, 2, 5), g.n(3, 2, 3), g.n(3), [1], [1], [1], False, [0], 1),
        C(g.n(1, 2, 4, 4), g.n(2, 3, 3, 3), None, [2, 2], [1, 1], [1, 1], True, [1, 1], 1),
    ],
    "conv1d": conv(1),
    "conv2d": conv(2),
    "conv3d": conv(3),
    "conv1d.padding": conv_padding(1),
    "conv2d.padding": conv_padding(2),
    "conv3d.padding": conv_padding(3),
    "conv_transpose1d": conv_transpose(1),
    "conv_transpose2d": conv_transpose(2),
    "conv_transpose3d": conv_transpose(3),
    "conv_tbc": lambda g: [C(g.n(5, 2, 2), g.n(3, 2, 4), g.n(4), 1)],
    "max_pool1d": pool(1, 2),
    "max_pool2d": pool(2, 2),
    "max_pool3d": pool(3, 1),
    "avg_pool1d": pool(1, True),
    "avg_pool2d": pool(2, True, False),
    "avg_pool3d": pool(3, True, True, 3),
    "adaptive_pool1d": adaptive(1),
    "adaptive_pool2d": adaptive(2),
    "adaptive_pool3d": adaptive(3),
    "fractional_max_pool2d": fractional(2),
    "fractional_max_pool3d": fractional(3),
    "max_unpool2d": lambda g: [unpool(g, 2)],
    "max_unpool3d": lambda g: [unpool(g, 3, [2, 2, 2], [0, 0, 0])],
    "upsample_nearest1d": upsample(1),
    "upsample_nearest2d": upsample(2),
    "upsample_nearest3d": upsample(3),
    "upsample_linear1d": interpolating(1),
    "upsample_linear2d": interpolating(2),
    "upsample_linear3d": interpolating(3),
    "grid_sampler": sampler((4, 3), (3, 4, 3)),
    "grid_sampler_2d": sampler((4, 3)),
    "grid_sampler_3d": sampler((3, 4, 3)),
    "affine_grid": lambda g: [
        C(g.n(2, 2, 3), (2, 1, 3, 4), False),
        C(g.n(1, 3, 4), (1, 1, 2, 3, 2), True),
    ],
    "pad1d": pad(1),
    "pad2d": pad(2),
    "pad3d": pad(3),
    "constant_pad": lambda g: [C(g.n(2, 3), (1, 2)), C(g.n(2, 3, 4), (1, -1, 0, 2), 1)],
    "pad": lambda g: [
        C(g.n(2, 3), (1, 2)),
        C(g.n(1, 2, 4), (2, 1), "reflect"),
        C(g.n(1, 2, 4), (2, 1), "circular"),
    ],
    "im2col": lambda g: [C(g.n(1, 2, 4, 5), (2, 3), (1, 1), (1, 0), (2, 1))],
    "col2im": lambda g: [C(g.n(1, 8, 6), (3, 4), (2, 2), (1, 1), (0, 0), (1, 1))],
    "pixel_shuffle": lambda g: [C(g.n(1, 4, 2, 3), 2), C(g.n(8, 2, 2), 2)],
    "pixel_unshuffle": lambda g: [C(g.n(1, 2, 4, 6), 2)],
    "channel_shuffle": lambda g: [C(g.n(1, 4, 2, 3), 2)],
    "layer_norm": lambda g: [C(g.n(2, 3, 4), (4,)), C(g.n(2, 3, 4), (3, 4), g.n(3, 4), g.n(3, 4))],
    "rms_norm": lambda g: [C(g.n(2, 3, 4), (4,)), C(g.n(2, 3, 4), (3, 4), g.n(3, 4), 1e-3)],
    "group_norm": lambda g: [C(g.n(2, 4, 3), 2), C(g.n(2, 4, 3, 2), 2, g.n(4), g.n(4))],
    "batch_norm": batch_norm(True),
    "instance_norm": instance_norm,
    "loss": loss(signed=True),
    "sign_loss": lambda g: [C(g.n(3, 4), sign(g, 3, 4), reduction=r) for r in (0, 1, 2)],
    "smooth_l1_loss": lambda g: [C(g.n(3, 4), g.x(3, 4), 1, 0.5), C(g.n(3), g.n(3), 0)],
    "binary_cross_entropy": lambda g: [C(g.x(3, 4), g.x(3, 4)), C(g.x(3, 4), g.x(3, 4), g.x(4), 0)],
    "bce_with_logits": lambda g: [
        C(g.n(3, 4), g.x(3, 4)),
        C(g.n(3, 4), g.x(3, 4), g.x(4), g.x(4) + 1, 0),
    ],
    "nll_loss_nd": nll(False),
    "cross_entropy_loss": nll(True),
    "kl_div": lambda g: [C(g.n(3, 4), g.x(3, 4)), C(g.n(3, 4), g.x(3, 4), 2, log_target=True)],
    "margin_ranking_loss": lambda g: [
        C(g.n(4), g.n(4), sign(g, 4), 0.3),
        C(g.n(4), g.n(4), sign(g, 4), 0.0, 0),
    ],
    "cosine_embedding_loss": lambda g: [C(g.n(3, 4), g.n(3, 4), sign(g, 3), 0.1)],
    "triplet_margin_loss": lambda g: [
        C(g.n(3, 4), g.n(3, 4), g.n(3, 4)),
        C(g.n(3, 4), g.n(3, 4), g.n(3, 4), 1.0, 2.0, 1e-6, True, 0),
    ],
    "multi_margin_loss": lambda g: [
        C(g.n(3, 4), g.i(4, 3)),
        C(g.n(3, 4), g.i(4, 3), 2, 0.5, g.x(4), 0),
    ],
    "multilabel_margin_loss": lambda g: [
        C(g.n(2, 4), torch.tensor([[1, 0, -1, 2], [3, -1, 0, 0]])),
        C(g.n(4), torch.tensor([1, 2, -1, 0]), 0),
    ],
    "poisson_nll_loss": lambda g: [
        C(g.x(3, 4), g.x(3, 4), True, False, 1e-8, 1),
        C(g.x(3), g.x(3) + 1, False, True, 1e-8, 0),
    ],
    "pair_rows": lambda g: [C(g.n(3, 4), g.n(3, 4)), C(g.n(3, 4), g.n(1, 4))],
    "lstm.input": rnn(4, False),
    "lstm.data": rnn(4, True),
    "gru.input": rnn(3, False),
    "gru.data": rnn(3, True),
    "rnn.input": rnn(1, False),
    "rnn.data": rnn(1, True),
    "lstm_cell": cell(4),
    "gru_cell": cell(3),
    "rnn_cell": cell(1),
    "attention": attention,
    "ctc_loss.IntList": ctc(False),
    "ctc_loss.Tensor": ctc(True),
}
