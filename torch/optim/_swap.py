"""swap_in_optimizer_params_and_state: an optimizer that works on other tensors for a while."""
from collections import defaultdict
from contextlib import contextmanager


def _unpacked_state(swapped, saved):
    """State keyed by the tensors that stand for the numbers in the saved groups."""
    numbers = [n for group in saved["param_groups"] for n in group["params"]]
    by_number = dict(zip(numbers, swapped))
    state = defaultdict(dict)
    for key, value in saved["state"].items():
        state[by_number.get(key, key)] = dict(value) if isinstance(value, dict) else value
    return state


@contextmanager
def swap_in_optimizer_params_and_state(optimizer, swapin_parameters, swapin_optim_state):
    """Inside the context the optimizer has other parameters and another state.

    Args:
        optimizer: whose groups are replaced and put back at the end.
        swapin_parameters: name to tensor, in the order of the optimizer's parameters.
        swapin_optim_state: like ``optimizer.state_dict()``; its tensors are used as they are, so
            what is written into them stays, and nothing else of it changes.

    Raises:
        ValueError: another number of parameters.
    """
    groups, state = optimizer.param_groups, optimizer.state
    tensors = list(swapin_parameters.values())
    saved = swapin_optim_state["param_groups"]
    if len(tensors) != sum(len(group["params"]) for group in groups):
        raise ValueError("swapin_parameters must have as many tensors as the optimizer has "
                         "parameters")
    if [len(group["params"]) for group in saved] != [len(group["params"]) for group in groups]:
        raise ValueError("swapin_optim_state must have the parameter groups of the optimizer")
    swapped, at = [], 0
    for group in saved:
        n = len(group["params"])
        swapped.append({**group, "params": tensors[at:at + n]})
        at += n
    optimizer.param_groups = swapped
    optimizer.state = _unpacked_state(tensors, swapin_optim_state)
    try:
        yield
    finally:
        optimizer.param_groups, optimizer.state = groups, state


swap_in_optimizer_params_and_state.__module__ = "torch.optim"
