"""Settings of all DataPipes of a graph."""

from .graph import traverse_dps

__all__ = [
    "apply_random_seed",
    "apply_sharding",
    "apply_shuffle_seed",
    "apply_shuffle_settings",
    "get_all_graph_pipes",
]


def get_all_graph_pipes(graph):
    """All pipes of a graph, each once."""
    found = {}

    def visit(graph):
        for key, (pipe, inner) in graph.items():
            if key not in found:
                found[key] = pipe
                visit(inner)

    visit(graph)
    return list(found.values())


def apply_sharding(datapipe, num_of_instances, instance_id, sharding_group=None):
    """Gives each pipe that can be sharded its share."""
    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if hasattr(type(pipe), "apply_sharding"):
            pipe.apply_sharding(num_of_instances, instance_id, sharding_group)
    return datapipe


def apply_shuffle_settings(datapipe, shuffle=None):
    """Switches the shuffling pipes on or off."""
    if shuffle is None:
        return datapipe
    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if hasattr(type(pipe), "set_shuffle"):
            pipe.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe, rng):
    """Seeds every pipe that draws."""
    import torch

    for pipe in get_all_graph_pipes(traverse_dps(datapipe)):
        if hasattr(type(pipe), "set_seed"):
            seed = torch.empty((), dtype=torch.int64).random_(generator=rng).item()
            pipe.set_seed(int(seed))
    return datapipe


def apply_shuffle_seed(datapipe, rng):
    """As `apply_random_seed`."""
    return apply_random_seed(datapipe, rng)
