"""`replace_pattern`: puts another small graph wherever a pattern occurs in a module's graph."""

import copy
from collections import namedtuple
from dataclasses import dataclass

import torch
from torch.fx._compatibility import compatibility
from torch.fx._symbolic_trace import symbolic_trace
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node

__all__ = ["Match", "replace_pattern", "replace_pattern_with_filters", "ReplacedPatterns"]

Match = namedtuple("Match", ["anchor", "nodes_map"])
Match.__doc__ = "Where a pattern ended, and the graph's node for each node of the pattern."


@compatibility(is_backward_compatible=False)
@dataclass
class ReplacedPatterns:
    """A match, with the nodes that took its place."""

    anchor: Node
    nodes_map: dict
    replacements: list


def _as_graph(source):
    if isinstance(source, GraphModule):
        return source.graph
    if isinstance(source, Graph):
        return source
    return symbolic_trace(source).graph


def _replace_attributes(gm, replacement):
    """Gives `gm` the modules and attributes that new nodes of it name."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()

    def find(module, target):
        for name in target.split("."):
            module = getattr(module, name, None)
        return module

    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        mine, other = find(gm, node.target), find(replacement, node.target)
        if mine is not None:
            continue
        if other is None:
            raise RuntimeError('Attempted to create a "', node.op, f'" node during subgraph '
                               f"rewriting with target {node.target}, but the referenced attribute "
                               "does not exist in the replacement GraphModule")
        if isinstance(other, torch.nn.Module):
            gm.add_submodule(node.target, copy.deepcopy(other))
        else:
            *prefix, field = node.target.split(".")
            owner = gm
            for name in prefix:
                if not hasattr(owner, name):
                    owner.add_module(name, torch.nn.Module())
                owner = getattr(owner, name)
            setattr(owner, field, copy.deepcopy(other))
    gm.graph.lint()


@compatibility(is_backward_compatible=True)
def replace_pattern(gm, pattern, replacement):
    """Replaces every occurrence of `pattern` in `gm` by `replacement`; changes `gm`.

    Both are functions or modules with as many inputs (and results) as each other. Occurrences must
    not overlap, and nothing else may use a value from the middle of one. Returns the `Match`es.
    """
    return [Match(anchor=r.anchor, nodes_map=r.nodes_map)
            for r in _replace_pattern(gm, pattern, replacement)]


@compatibility(is_backward_compatible=False)
def replace_pattern_with_filters(gm, pattern, replacement=None, match_filters=None,
                                 ignore_literals=False, replacement_callback=None,
                                 node_name_match=""):
    """`replace_pattern` for those matches that all filters accept.

    A filter gets (match, gm's graph, the pattern's graph). `replacement_callback` gets the same and
    makes the replacement's graph. Returns `ReplacedPatterns`.
    """
    return _replace_pattern(gm, pattern, replacement, match_filters, ignore_literals,
                            replacement_callback, node_name_match)


def _replace_pattern(gm, pattern, replacement=None, match_filters=None, ignore_literals=False,
                     replacement_callback=None, node_name_match=""):
    from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

    filters = match_filters or []
    graph, pattern_graph = gm.graph, _as_graph(pattern)
    matcher = SubgraphMatcher(pattern_graph, match_output=False, match_placeholder=False,
                              remove_overlapping_matches=True, ignore_literals=ignore_literals)
    matches = [m for m in matcher.match(graph, node_name_match=node_name_match)
               if all(f(m, graph, pattern_graph) for f in filters)]
    common = None
    if replacement is not None:
        common = _as_graph(replacement)
    elif replacement_callback is None:
        raise AssertionError("Must provide either a replacement GraphModule or a replacement "
                             "callback")
    replaced, changes = [], {}
    for number, match in enumerate(matches):
        if replacement_callback is not None:
            new = replacement_callback(match, graph, pattern_graph)
        else:
            new = common
        placeholders = [n for n in new.nodes if n.op == "placeholder"]
        if len(match.placeholder_nodes) != len(placeholders):
            raise AssertionError(f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs "
                                 f"{len(placeholders)}")
        replaced.append(_replace_one(graph, match, new, placeholders, changes, number))
    gm.recompile()
    if isinstance(replacement, torch.nn.Module):
        _replace_attributes(gm, replacement)
    return replaced


def _replace_one(graph, match, new, placeholders, changes, number):
    """Copies `new` in, gives its results to the users of the match, erases the match.

    `changes` maps nodes that earlier replacements took away to what took their place.
    """
    values = {}
    for placeholder, node in zip(placeholders, match.placeholder_nodes):
        if isinstance(node, Node):
            node = changes.get(node, node)
            if match.nodes_map and number:
                for key, value in match.nodes_map.items():
                    if isinstance(value, Node) and value in changes:
                        match.nodes_map[key] = changes[value]
        values[placeholder] = node
    inner = set(match.nodes_map.values()) - set(match.placeholder_nodes)
    users = {user for n in match.returning_nodes for user in n.users}
    first_user = next((n for n in graph.nodes if n in users), None)
    first_next = next((n.next for n in reversed(graph.nodes) if n in inner), None)
    place = _insertion_point(graph, first_user, first_next, values, inner)
    before = set(graph.nodes)
    with graph.inserting_before(place):
        result = graph.graph_copy(new, values)
    results = (result,) if isinstance(result, Node) else tuple(result)
    if len(match.returning_nodes) != len(results):
        raise AssertionError("the pattern and its replacement must have the same results")
    for old, node in zip(match.returning_nodes, results):
        old.replace_all_uses_with(node)
        changes[old] = node
    for node in reversed(graph.nodes):
        if node in inner and not node.users:
            graph.erase_node(node)
    made = [n for n in graph.nodes if n not in before]
    return ReplacedPatterns(anchor=match.anchors[0], nodes_map=match.nodes_map, replacements=made)


def _insertion_point(graph, first_user, after_match, values, inner):
    """The node before which the replacement goes: after its inputs, before its users."""
    inputs = [n for n in values.values() if isinstance(n, Node)]
    if first_user is None:
        if after_match is None:
            raise AssertionError("The insert point can't be None")
        return after_match
    latest = max(inputs, default=None)
    if latest is None or latest < first_user:
        return first_user
    place = latest.next
    while place in inner:
        place = place.next
    return place
