"""torch.ao.quantization: stubs work; observers, `prepare` and `convert` are not written yet."""

from torch.ao.quantization.stubs import DeQuantStub, QuantStub, QuantWrapper  # noqa: F401
