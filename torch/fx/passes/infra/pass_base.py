"""The form of a pass: takes a GraphModule, returns a `PassResult`."""

import abc
from collections import namedtuple

from torch.fx._compatibility import compatibility

__all__ = ["PassResult", "PassBase"]


@compatibility(is_backward_compatible=False)
class PassResult(namedtuple("PassResult", ["graph_module", "modified"])):
    """The module after a pass, and whether the pass changed it."""

    __slots__ = ()


@compatibility(is_backward_compatible=False)
class PassBase(abc.ABC):
    """A pass: define `call`; `requires` and `ensures` may check before and after."""

    def __call__(self, graph_module):
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module):
        """Does the work; returns a `PassResult`."""

    def requires(self, graph_module):
        """Raises if the pass cannot run on the module."""

    def ensures(self, graph_module):
        """Raises if the result is not right."""
