"""`CapabilityBasedPartitioner`: groups the nodes that a backend can run into as few parts as keep
the graph free of circles."""

import operator

from torch.fx._compatibility import compatibility
from torch.fx.node import _get_qualified_name
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

__all__ = ["Partition", "CapabilityBasedPartitioner"]


@compatibility(is_backward_compatible=False)
class Partition:
    """Nodes that belong together (the keys of `nodes`)."""

    def __init__(self, id=None, nodes=None, node_orders=None):
        self.id = id
        nodes = list(nodes or [])
        self.nodes = dict(zip(nodes, node_orders or [None] * len(nodes)))

    def __repr__(self):
        return str(self.nodes)

    def add_node(self, node, node_order=None):
        self.nodes[node] = node_order

    def remove_node(self, node):
        del self.nodes[node]

    def size(self):
        return len(self.nodes)


@compatibility(is_backward_compatible=False)
class CapabilityBasedPartitioner:
    """Proposes and fuses partitions.

    Args:
        graph_module: what is divided; `fuse_partitions` changes it.
        operator_support: says which nodes the backend runs.
        allows_single_node_partition: keep parts of one node.
        non_compute_ops: paths of functions that do not count as work.
        allowed_single_node_partition_ops: functions that may be a part alone.
        skip_horizontal_fusion: parts that use nothing of each other stay apart.
    """

    def __init__(self, graph_module, operator_support, allows_single_node_partition=False,
                 non_compute_ops=None, allowed_single_node_partition_ops=None,
                 skip_horizontal_fusion=False):
        self.graph_module = graph_module
        self.operator_support = operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = non_compute_ops or []
        self.allowed_single_node_partition_ops = allowed_single_node_partition_ops or []
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def _is_node_supported(self, node):
        modules = dict(self.graph_module.named_modules())
        return self.operator_support.is_node_supported(modules, node)

    def propose_partitions(self):
        """The list of `Partition`s."""
        where = {}  # node -> its partition
        partitions = []
        for number, node in enumerate(reversed(self.graph_module.graph.nodes)):
            if node.op in ("placeholder", "output", "get_attr") or not (
                self._is_node_supported(node)
            ):
                continue
            own = where[node] = Partition(len(where), [node], [number])
            partitions.append(own)
            near = [where[user] for user in node.users if user in where]
            if not self.skip_horizontal_fusion:
                near += partitions
            for other in dict.fromkeys(near):
                if other is own or other not in partitions:
                    continue
                if _would_circle(own, other, where):
                    continue
                for moved, order in other.nodes.items():
                    own.add_node(moved, order)
                    where[moved] = own
                partitions.remove(other)
        partitions.sort(key=lambda p: p.id)
        self._keep_elements_with_their_tuple(where, partitions)
        return [p for p in partitions if self._is_worthwhile(p)]

    def _keep_elements_with_their_tuple(self, where, partitions):
        """Taking an element belongs to the node that made the tuple."""
        for node in self.graph_module.graph.nodes:
            for user in node.users:
                if user.op != "call_function" or user.target is not operator.getitem:
                    continue
                home, maker = where.get(user), where.get(node)
                if home is maker or (maker is None and node.op == "placeholder"):
                    continue
                if home is not None:
                    home.remove_node(user)
                    del where[user]
                if maker is not None:
                    maker.add_node(user)
                    where[user] = maker
        partitions[:] = [p for p in partitions if p.size()]

    def _counts(self, node):
        return not (node.op == "call_function"
                    and _get_qualified_name(node.target) in {*self.non_compute_ops,
                                                            "_operator.getitem"})

    def _is_worthwhile(self, partition):
        if self.allows_single_node_partition:
            return partition.size() > 0
        work = sum(self._counts(node) for node in partition.nodes)
        alone = any(node.op == "call_function" and _get_qualified_name(node.target)
                    in self.allowed_single_node_partition_ops for node in partition.nodes)
        return work > 1 or alone

    def fuse_partitions(self, partitions, prefix="fused_"):
        """Puts a submodule in the place of each; returns the module."""
        return fuse_by_partitions(self.graph_module, [p.nodes for p in partitions], prefix=prefix)

    def remove_bookend_non_compute_ops(self, partitions):
        """Takes out functions that do no work where they only pass values in or out."""
        for partition in partitions:
            changed = True
            while changed:
                changed = False
                for node in list(partition.nodes):
                    if self._counts(node):
                        continue
                    inputs = any(n in partition.nodes for n in node.all_input_nodes)
                    users = any(n in partition.nodes for n in node.users)
                    if not inputs or not users:
                        partition.remove_node(node)
                        changed = True

    def partition_and_fuse(self, prefix="fused_"):
        """Both steps."""
        return self.fuse_partitions(self.propose_partitions(), prefix=prefix)


def _would_circle(a, b, where):
    """Would the union of two partitions be entered again by a path that left it?"""
    inside = {*a.nodes, *b.nodes}
    stack = [user for node in inside for user in node.users if user not in inside]
    seen = set()
    while stack:
        node = stack.pop()
        if node in inside:
            return True
        if node in seen:
            continue
        seen.add(node)
        part = where.get(node)
        group = part.nodes if part is not None and part is not a and part is not b else (node,)
        seen.update(group)
        stack.extend(user for n in group for user in n.users if user not in seen)
    return False
