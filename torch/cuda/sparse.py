"""Old types of sparse CUDA tensors: classes that cannot be instantiated."""

from torch.cuda._absent import dummy_type

for _name in "BFloat16 Byte Char Double Float Half Int Long Short".split():
    globals()[f"{_name}Tensor"] = dummy_type(f"torch.cuda.sparse.{_name}Tensor")
del _name
