"""The older spelling of two functions of torch.hub."""

from torch.hub import _Faketqdm, load_state_dict_from_url, tqdm  # noqa: F401
from torch.hub import load_state_dict_from_url as load_url  # noqa: F401
