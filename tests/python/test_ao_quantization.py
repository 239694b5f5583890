"""Observers, simulated rounding and fusion of torch.ao.quantization. Numbers are PyTorch's."""

import pytest

import torch
import torch.ao.nn.intrinsic as nni
import torch.ao.quantization as q
from torch import nn

X = torch.tensor([[1.5410, -0.2934, -2.1788, 0.5684], [-1.0845, -1.3986, 0.4033, 0.8380],
                  [-0.7193, -0.4033, -0.5966, 0.1820]])


@pytest.mark.parametrize("observer, scale, zero_point", [
    (q.MinMaxObserver(), [0.0292], [149]),
    (q.MinMaxObserver(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric), [0.0342], [0]),
    (q.MinMaxObserver(qscheme=torch.per_tensor_symmetric), [0.0342], [128]),
    (q.MinMaxObserver(quant_min=0, quant_max=127), [0.0586], [74]),
    (q.MinMaxObserver(dtype=torch.int8), [0.0292], [21]),
    (q.MovingAverageMinMaxObserver(quant_min=0, quant_max=127), [0.0296], [74]),
    (q.PerChannelMinMaxObserver(), [0.0292, 0.0175, 0.0071], [149, 159, 204]),
    (q.MovingAveragePerChannelMinMaxObserver(), [0.0147, 0.0089, 0.0036], [149, 159, 204]),
    (q.PerChannelMinMaxObserver(ch_axis=1, dtype=torch.qint8,
                                qscheme=torch.per_channel_symmetric),
     [0.0242, 0.0219, 0.0342, 0.0131], [0, 0, 0, 0]),
])
def test_observers(observer, scale, zero_point):
    observer(X)
    assert observer(2 * X) is not None
    got_scale, got_zero = observer.calculate_qparams()
    assert got_scale.tolist() == pytest.approx(scale, abs=5e-5)
    assert got_zero.tolist() == zero_point


def test_an_observer_that_saw_nothing():
    with pytest.warns(UserWarning, match="must run observer before calling calculate_qparams"):
        scale, zero = q.MinMaxObserver().calculate_qparams()
    assert scale.item() == 1 and zero.item() == 0
    made = q.MinMaxObserver.with_args(dtype=torch.qint8)
    assert repr(made) == ("functools.partial(<class 'torch.ao.quantization.observer."
                          "MinMaxObserver'>, dtype=torch.qint8){}")
    assert made().quant_min == -128
    with pytest.raises(NotImplementedError, match="HistogramObserver"):
        q.default_histogram_observer()


def test_fake_quantize():
    fq = q.FakeQuantize()
    x = X.clone().requires_grad_()
    y = fq(x)
    assert y[0].tolist() == pytest.approx([1.5463, -0.2917, -2.1735, 0.5689], abs=2e-4)
    y.sum().backward()
    assert torch.equal(x.grad, torch.ones_like(X))
    fq.apply(q.disable_observer)
    wide = (1.5 * X).requires_grad_()
    fq(wide).sum().backward()
    assert 0 < wide.grad.sum() < X.numel()
    fq.disable_fake_quant()
    assert fq(X) is X


def test_fusion():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.c, self.b, self.r = nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU()
            self.l, self.s = nn.Linear(2, 2), nn.ReLU()

        def forward(self, x):
            return self.s(self.l(self.r(self.b(self.c(x))).mean((2, 3))))

    m = M().eval()
    m.b.running_mean.fill_(0.3)
    x = torch.randn(2, 1, 3, 3)
    fused = q.fuse_modules(m, [["c", "b", "r"], ["l", "s"]])
    assert type(fused.c) is nni.ConvReLU2d and type(fused.l) is nni.LinearReLU
    assert type(fused.b) is nn.Identity and type(m.c) is nn.Conv2d
    assert torch.allclose(fused(x), m(x), atol=1e-6)
    assert type(q.fuse_modules_qat(m.train(), [["c", "b", "r"]]).c) is nni.ConvBnReLU2d
    with pytest.raises(AssertionError, match="did not find fuser method for"):
        q.fuse_modules(m.eval(), ["r", "c"])
    with pytest.raises(AssertionError, match="Incorrect types for input modules: ReLU and ReLU"):
        nni.ConvReLU2d(nn.ReLU(), nn.ReLU())


def test_stubs_and_what_is_missing():
    functional = torch.ao.nn.quantized.FloatFunctional()
    assert functional.add_relu(X, X).min() == 0
    wrapped = q.QuantWrapper(nn.Linear(2, 2))
    assert [n for n, _ in wrapped.named_children()] == ["quant", "dequant", "module"]
    assert torch.quantization.QuantStub is q.QuantStub
    assert torch.quantization.default_qconfig.weight is q.default_weight_observer
    for call in (lambda: q.convert(wrapped), lambda: torch.ao.nn.qat.Linear(2, 2),
                 lambda: torch.ao.nn.quantized.Linear(2, 2)):
        with pytest.raises(NotImplementedError, match="is not implemented"):
            call()
