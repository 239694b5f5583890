"""What is remembered about the origin of nodes while programs or graphs are traced again."""

import traceback
from contextlib import contextmanager
from enum import Enum

__all__ = [
    "annotate", "annotate_fn", "preserve_node_meta", "has_preserved_node_meta", "set_stack_trace",
    "set_grad_fn_seq_nr", "reset_grad_fn_seq_nr", "format_stack", "set_current_meta",
    "get_current_meta", "NodeSource", "NodeSourceAction", "get_graph_provenance_json",
    "set_current_replay_node", "get_current_replay_node",
]

current_meta = {}
current_replay_node = None
should_preserve_node_meta = False


class NodeSourceAction(Enum):
    """How a pass got a node from another."""

    CREATE = "create"
    REPLACE = "replace"


class NodeSource:
    """Where a node comes from: the pass, and the nodes that it had before."""

    def __init__(self, node, pass_name="", action=None):
        self.pass_name = pass_name
        self.action = [] if action is None else action if isinstance(action, list) else [action]
        self.name = node.name if node else ""
        self.target = node._pretty_print_target(node.target) if node else ""
        self.graph_id = id(node.graph) if node else -1
        self.from_node = list(node.meta.get("from_node", ())) if node else []

    def _get_action_string(self):
        return "+".join(a.name.lower() for a in self.action)

    def print_readable(self, indent=0):
        """The chain of origins, one a line."""
        if indent > 9:
            return ""
        text = (" " * indent * 4 + f"(name={self.name}, pass_name={self.pass_name}, "
                f"action={self._get_action_string()}, graph_id={self.graph_id})\n")
        return text + "".join(item.print_readable(indent + 1) for item in self.from_node)

    __repr__ = print_readable

    def to_dict(self):
        return {"name": self.name, "target": self.target, "graph_id": self.graph_id,
                "pass_name": self.pass_name, "action": self._get_action_string(),
                "from_node": [item.to_dict() for item in self.from_node]}

    def __eq__(self, other):
        return isinstance(other, NodeSource) and self.to_dict() == other.to_dict()

    def __hash__(self):
        return hash((self.name, self.target, self.graph_id, self.pass_name))


@contextmanager
def preserve_node_meta(enable=True):
    """New nodes take over the metadata of the one being replayed, inside the block."""
    global should_preserve_node_meta, current_meta
    before = should_preserve_node_meta, current_meta.copy()
    should_preserve_node_meta = enable
    try:
        yield
    finally:
        should_preserve_node_meta, current_meta = before


def has_preserved_node_meta():
    """Is `preserve_node_meta` on?"""
    return should_preserve_node_meta


@contextmanager
def annotate(annotation_dict):
    """Nodes made in the block get these entries in ``meta["custom"]``."""
    before = current_meta.get("custom")
    current_meta["custom"] = {**(before or {}), **annotation_dict}
    try:
        yield
    finally:
        if before is None:
            current_meta.pop("custom", None)
        else:
            current_meta["custom"] = before


def annotate_fn(annotation_dict):
    """`annotate` around every call of the decorated function."""
    from functools import wraps

    def decorate(func):
        @wraps(func)
        def wrapped(*args, **kwargs):
            with annotate(annotation_dict):
                return func(*args, **kwargs)

        return wrapped

    return decorate


def set_stack_trace(stack):
    """The place in the program that nodes made from now on come from."""
    if should_preserve_node_meta and stack:
        current_meta["stack_trace"] = "".join(stack)


def set_grad_fn_seq_nr(seq_nr):
    if should_preserve_node_meta:
        current_meta["grad_fn_seq_nr"] = current_meta.get("grad_fn_seq_nr", []) + [seq_nr]
        current_meta["in_grad_fn"] = current_meta.get("in_grad_fn", 0) + 1


def reset_grad_fn_seq_nr():
    if not should_preserve_node_meta:
        return
    level = current_meta["in_grad_fn"] - 1
    if level == 0:
        del current_meta["in_grad_fn"], current_meta["grad_fn_seq_nr"]
    else:
        current_meta["in_grad_fn"] = level
        current_meta["grad_fn_seq_nr"] = current_meta["grad_fn_seq_nr"][:-1]


def format_stack():
    """The place in the program now, as a list of lines."""
    if should_preserve_node_meta:
        return [current_meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


@contextmanager
def set_current_meta(node, pass_name=""):
    """Within the block `node` is the one being replayed."""
    global current_meta
    if not (should_preserve_node_meta and node.meta):
        yield
        return
    before = current_meta
    current_meta = node.meta.copy()
    current_meta["from_node"] = [NodeSource(node, pass_name, NodeSourceAction.CREATE)]
    try:
        yield
    finally:
        current_meta = before


def get_current_meta():
    return current_meta


@contextmanager
def set_current_replay_node(node):
    """Within the block `get_current_replay_node` returns `node`."""
    global current_replay_node
    before, current_replay_node = current_replay_node, node
    try:
        yield
    finally:
        current_replay_node = before


def get_current_replay_node():
    return current_replay_node


def get_graph_provenance_json(graph):
    """For each node by name, the origins recorded for it as dictionaries."""
    return {node.name: [source.to_dict() for source in node.meta["from_node"]]
            for node in graph.nodes if "from_node" in node.meta}
