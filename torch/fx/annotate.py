"""Types for values of a traced function."""

from torch.fx._compatibility import compatibility
from torch.fx.proxy import Proxy


@compatibility(is_backward_compatible=False)
def annotate(val, type):
    """Gives the node of a `Proxy` the type `type`; anything else is returned as it is."""
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError("Tried to annotate a value that already had a type on it! Existing "
                               f"type is {val.node.type} and new type is {type}. This could happen "
                               "if you tried to annotate a function parameter value (in which case "
                               "you should use the type slot on the function signature) or you "
                               "called annotate on the same value twice")
        val.node.type = type
    return val
