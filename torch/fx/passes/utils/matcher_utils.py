"""Finding a small graph, the pattern, in a bigger one."""

import copy
from dataclasses import dataclass, field

import torch
from torch.fx.node import Node
from torch.fx._compatibility import compatibility

__all__ = ["SubgraphMatcher", "InternalMatch"]


@compatibility(is_backward_compatible=False)
@dataclass
class InternalMatch:
    """Where a pattern was found.

    `anchors` are the nodes of the pattern that the search began from, `nodes_map` goes from nodes
    of the pattern to nodes of the graph, `placeholder_nodes` are the graph's nodes for the
    pattern's inputs, `returning_nodes` those whose values the pattern returns.
    """

    anchors: list
    nodes_map: dict = field(default_factory=dict)
    placeholder_nodes: list = field(default_factory=list)
    returning_nodes: list = field(default_factory=list)
    name_node_map: dict = field(default_factory=dict)

    def __copy__(self):
        return InternalMatch(self.anchors, self.nodes_map.copy(), self.placeholder_nodes.copy(),
                             self.returning_nodes.copy())


def _attribute(module, path):
    for name in path.split("."):
        module = getattr(module, name)
    return module


@compatibility(is_backward_compatible=False)
class SubgraphMatcher:
    """Looks for `pattern`, a Graph with one output.

    Args:
        match_output: the pattern's output must be the graph's.
        match_placeholder: the pattern's inputs match only inputs of the graph.
        remove_overlapping_matches: keep the first of matches that share nodes.
        ignore_literals: constants in arguments match any constant.
    """

    def __init__(self, pattern, match_output=False, match_placeholder=False,
                 remove_overlapping_matches=True, ignore_literals=False):
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not self.is_used(node):
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with "
                                     "dead code")
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == "placeholder"]
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_returning_nodes = output.all_input_nodes
        if match_output:
            self.pattern_anchors = [output]
        else:  # nodes that nothing but the output uses
            self.pattern_anchors = [n for n in output.all_input_nodes if len(n.users) == 1]

    @staticmethod
    def is_used(node):
        return node.op == "placeholder" or len(node.users) > 0

    def _match_attributes(self, pn, gn):
        if not isinstance(pn.target, str) or not isinstance(gn.target, str):
            raise AssertionError("targets of attributes must be strings")
        mine = _attribute(pn.graph.owning_module, pn.target)
        other = _attribute(gn.graph.owning_module, gn.target)
        if type(mine) is not type(other):
            return False
        return isinstance(mine, torch.Tensor) or mine is other or mine == other

    def _nodes_are_equal(self, pn, gn, node_name_match=""):
        if not self.match_placeholder and pn.op == "placeholder":
            return True
        if node_name_match and node_name_match in gn.name:
            return True
        if pn.op != gn.op:
            return False
        if pn.op in ("placeholder", "output"):
            return True
        if pn.op == "get_attr":
            return self._match_attributes(pn, gn)
        if pn.op == "call_module" and pn.target != gn.target:
            # The same path, or modules of one class.
            mine, other = pn.graph.owning_module, gn.graph.owning_module
            return (mine is not None and other is not None
                    and type(_attribute(mine, pn.target)) is type(_attribute(other, gn.target)))
        return pn.target == gn.target

    def _is_contained(self, nodes_map):
        """Does nothing outside the match use its inner nodes?"""
        lookup = {gn: pn for pn, gn in nodes_map.items() if pn.op != "placeholder"}
        for gn, pn in lookup.items():
            if pn in self.pattern_returning_nodes:
                continue
            if any(user not in lookup for user in gn.users):
                return False
        return True

    def _remove_overlapping_matches(self, matches):
        kept, taken = [], set()
        for match in matches:
            inner = {gn for pn, gn in match.nodes_map.items()
                     if pn.op not in ("placeholder", "output")}
            if inner & taken:
                continue
            taken |= inner
            kept.append(match)
        return kept

    def _match_literals(self, pn, gn, match):
        if isinstance(pn, Node) and isinstance(gn, Node):
            raise AssertionError("pn and gn cannot both be Node")
        if isinstance(pn, Node) and not isinstance(gn, Node):
            if pn.op == "placeholder":  # an input may stand for a constant
                if pn in match.nodes_map:
                    return match.nodes_map[pn] == gn
                match.nodes_map[pn] = gn
                return True
            return False
        if isinstance(gn, Node):
            return False
        return type(gn) is type(pn) and gn == pn

    def _match_nodes(self, pn, gn, match, node_name_match=""):
        """Do `pn` and all that it is made of match `gn`? Fills `match`."""
        if pn in match.nodes_map:
            return match.nodes_map[pn] is gn
        if gn in match.nodes_map.values():
            return False
        if not self._nodes_are_equal(pn, gn, node_name_match):
            return False
        saved = copy.copy(match)
        match.nodes_map[pn] = gn
        if pn.op == "placeholder":
            return True
        mine, other = _flat_arguments(pn, gn)
        same = mine is not None and len(mine) == len(other) and all(
            self._match_args(a, b, match, node_name_match) for a, b in zip(mine, other)
        )
        if not same:
            match.nodes_map = saved.nodes_map.copy()
        return same

    def _match_args(self, a, b, match, node_name_match):
        if isinstance(a, Node) and isinstance(b, Node):
            return self._match_nodes(a, b, match, node_name_match)
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            return len(a) == len(b) and all(
                self._match_args(x, y, match, node_name_match) for x, y in zip(a, b)
            )
        return self._match_literals(a, b, match) or (
            self.ignore_literals and not isinstance(a, Node) and not isinstance(b, Node)
        )

    def match(self, graph, node_name_match=""):
        """All places of the pattern, the last in the graph first found; overlapping ones removed,
        in the order of the graph from its end."""
        candidates = {
            anchor: [node for node in graph.nodes
                     if self._nodes_are_equal(anchor, node, node_name_match)]
            for anchor in self.pattern_anchors
        }
        matches = []

        def search(index, match):
            if index == len(self.pattern_anchors):
                match.placeholder_nodes = [match.nodes_map[pn]
                                           for pn in self.pattern_placeholder_nodes
                                           if pn in match.nodes_map]
                match.returning_nodes = [match.nodes_map[pn]
                                         for pn in self.pattern_returning_nodes]
                matches.append(match)
                return
            anchor = self.pattern_anchors[index]
            for node in candidates[anchor]:
                attempt = copy.copy(match)
                if self._match_nodes(anchor, node, attempt, node_name_match):
                    search(index + 1, attempt)

        search(0, InternalMatch(anchors=self.pattern_anchors))
        matches = [m for m in matches if self._is_contained(m.nodes_map)]
        valid = [m for m in matches if _values_are_nodes(m)]
        return self._remove_overlapping_matches(valid) if self.remove_overlapping_matches else valid


def _values_are_nodes(match):
    """Without what cannot be replaced: inputs of the graph as inner nodes."""
    return all(not isinstance(gn, Node) or pn.op == "placeholder" or gn.op != "placeholder"
               for pn, gn in match.nodes_map.items())


def _flat_arguments(pn, gn):
    """The arguments of both nodes in one order, whether given by position or by name."""
    if len(pn.args) == len(gn.args) and pn.kwargs.keys() == gn.kwargs.keys():
        keys = list(pn.kwargs)
        return ([*pn.args, *(pn.kwargs[k] for k in keys)],
                [*gn.args, *(gn.kwargs[k] for k in keys)])
    if pn.op == "call_function":
        names = _parameter_names(pn.target)
        if names:
            return _aligned(pn, gn, names)
    return None, None


def _parameter_names(target):
    import inspect

    schema = getattr(target, "_schema", None)
    if schema is not None:
        return [a.name for a in schema.arguments]
    try:
        return list(inspect.signature(target).parameters)
    except (TypeError, ValueError):
        return None


def _by_name(node, names):
    if len(node.args) > len(names):
        return None
    found = dict(zip(names, node.args))
    found.update(node.kwargs)
    return found


def _aligned(pn, gn, names):
    mine, other = _by_name(pn, names), _by_name(gn, names)
    if mine is None or other is None or mine.keys() != other.keys():
        return None, None
    return [mine[k] for k in mine], [other[k] for k in mine]
