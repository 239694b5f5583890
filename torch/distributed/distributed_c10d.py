"""Process groups and collectives.

No group can be made yet (`init_process_group` raises), so what needs the default group raises the
ValueError that PyTorch raises before `init_process_group`. The collectives are made from the table
`_NEED_A_GROUP`, which holds their public signatures.
"""

import enum
import os

from torch.distributed import (  # noqa: F401
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    QueueEmptyError,
    is_torchelastic_launched,
)
from torch._missing import missing_class, missing_function
from torch.distributed.constants import default_pg_nccl_timeout, default_pg_timeout  # noqa: F401


class RedOpType(enum.IntEnum):
    """How a collective combines the values of several processes."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    def __str__(self):
        return f"RedOpType.{self.name}"


class ReduceOp:
    """Names of the reductions: `ReduceOp.SUM` and so on."""

    RedOpType = RedOpType

    def __init__(self, op):
        self.op = RedOpType(op)

    def __eq__(self, other):
        return self.op == getattr(other, "op", other)

    def __hash__(self):
        return hash(self.op)


for _member in RedOpType:
    setattr(ReduceOp, _member.name, _member)
RedOpType.__qualname__ = "ReduceOp.RedOpType"


class DebugLevel(enum.Enum):
    """How much torch.distributed checks and logs (TORCH_DISTRIBUTED_DEBUG)."""

    OFF = 0
    INFO = 1
    DETAIL = 2

    def __str__(self):
        return f"DebugLevel.{self.name}"


_debug_level = DebugLevel.OFF


def get_debug_level():
    return _debug_level


def set_debug_level(level):
    global _debug_level
    _debug_level = DebugLevel(level)


def set_debug_level_from_env():
    """Takes the level from TORCH_DISTRIBUTED_DEBUG; another word raises RuntimeError."""
    text = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper()
    if text not in DebugLevel.__members__:
        raise RuntimeError("The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL.")
    set_debug_level(DebugLevel[text])


class BuiltinCommHookType(enum.Enum):
    """Ways to exchange gradients that DistributedDataParallel knows by name."""

    ALLREDUCE = 0
    FP16_COMPRESS = 1


class Backend(str):
    """The name of a communication backend, in small letters; `Backend.GLOO` and so on."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    FAKE = "fake"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        return str.__new__(cls, name.lower())

    @classmethod
    def register_backend(cls, name, func, extended_api=False, devices=None):
        missing_function("torch.distributed.Backend.register_backend")()


class GroupMember:
    """`WORLD` is the default group (None as long as there is none)."""

    WORLD = None
    NON_GROUP_MEMBER = -100


group = GroupMember
GroupName = str


def is_initialized():
    """Whether `init_process_group` has made the default group: never in this build."""
    return GroupMember.WORLD is not None




def _backend_question(name):
    def function():
        return False

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "False: this build has no communication backend."
    return function


for _name in "gloo nccl mpi ucc xccl".split():
    globals()[f"is_{_name}_available"] = _backend_question(f"is_{_name}_available")


def is_backend_available(backend):
    """False for every backend: this build has none."""
    return False


def get_default_backend_for_device(device):
    """The backend that PyTorch uses for a device: gloo for the CPU."""
    kind = str(device).split(":")[0]
    if kind not in Backend.default_device_backend_map:
        raise ValueError(f"Default backend not registered for device : {device}")
    return Backend.default_device_backend_map[kind]


def get_pg_count():
    """How many process groups there are."""
    return 0


def supports_complex(reduceOp):
    """Whether a reduction has a meaning for complex numbers."""
    return reduceOp not in (ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PRODUCT, ReduceOp.BAND,
                            ReduceOp.BOR, ReduceOp.BXOR)


def get_node_local_rank(fallback_rank=None):
    """The environment's LOCAL_RANK, or `fallback_rank`; RuntimeError without either."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank to "
                       "allow `get_node_local_rank` to work outside a multi-process launch.")


def destroy_process_group(group=None):
    """Ends a group; AssertionError when there is none."""
    raise AssertionError("Process group cannot be None")


def _get_default_group():
    raise ValueError("Default process group has not been initialized, please make sure to call "
                     "init_process_group.")


_SUM = RedOpType.SUM

# Public signatures of what uses the default group.
_NEED_A_GROUP = """
all_gather(tensor_list, tensor, group=None, async_op=False)
all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False)
all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False)
all_gather_object(object_list, obj, group=None, weights_only=False)
all_gather_single(output_tensor, input_tensor, group=None, async_op=False)
all_reduce(tensor, op=_SUM, group=None, async_op=False)
all_reduce_coalesced(tensors, op=_SUM, group=None, async_op=False)
all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False)
all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, \
async_op=False)
barrier(group=None, async_op=False, device_ids=None, timeout=None)
batch_isend_irecv(p2p_op_list)
broadcast(tensor, src=None, group=None, async_op=False, group_src=None)
broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None, \
weights_only=False)
gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None)
gather_into_tensor(tensor, gather_tensor=None, dst=None, group=None, async_op=False, \
group_dst=None)
gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None, \
weights_only=False)
gather_single(tensor, gather_tensor=None, dst=None, group=None, async_op=False, group_dst=None)
get_backend(group=None)
get_backend_config(group=None)
get_backend_impl(group=None, device=None)
get_global_rank(group, group_rank)
get_group_rank(group, global_rank)
get_process_group_ranks(group)
get_rank(group=None)
get_world_size(group=None)
irecv(tensor, src=None, group=None, tag=0, group_src=None)
isend(tensor, dst=None, group=None, tag=0, group_dst=None)
monitored_barrier(group=None, timeout=None, wait_all_ranks=False)
new_group(ranks=None, timeout=None, backend=None, pg_options=None, \
use_local_synchronization=False, group_desc=None, device_id=None, sort_ranks=True)
new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, \
group_desc=None)
new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, \
pg_options=None, group_desc=None)
recv(tensor, src=None, group=None, tag=0, group_src=None)
recv_object_list(object_list, src=None, group=None, device=None, group_src=None, \
use_batch=False, weights_only=False)
reduce(tensor, dst=None, op=_SUM, group=None, async_op=False, group_dst=None)
reduce_scatter(output, input_list, op=_SUM, group=None, async_op=False)
reduce_scatter_single(output, input, op=_SUM, group=None, async_op=False)
reduce_scatter_tensor(output, input, op=_SUM, group=None, async_op=False)
scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None)
scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, \
group=None, group_src=None, weights_only=False)
send(tensor, dst=None, group=None, tag=0, group_dst=None)
send_object_list(object_list, dst=None, group=None, device=None, group_dst=None, \
use_batch=False, weights_only=False)
set_timeout(timeout, group=None)
shrink_group(ranks_to_exclude, group=None, shrink_flags=0, pg_options=None)
split_group(parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None, \
backend=None)
""".replace("\\\n", "").split("\n")


def _make(signature):
    """A function of the given signature that asks for the default group."""
    name = signature[:signature.index("(")]
    space = {"_get_default_group": _get_default_group, "_SUM": _SUM}
    exec(f"def {signature}:\n    return _get_default_group()\n", space)
    function = space[name]
    function.__module__ = __name__
    function.__doc__ = "Needs a process group: ValueError while there is none."
    return function


for _line in _NEED_A_GROUP:
    if _line.strip():
        _function = _make(_line)
        globals()[_function.__name__] = _function

__all__ = sorted(
    {_line[:_line.index("(")] for _line in _NEED_A_GROUP if "(" in _line}
    | {f"is_{_name}_available" for _name in "gloo nccl mpi ucc xccl".split()}
    | set("""Backend BuiltinCommHookType DebugLevel GroupMember GroupName ReduceOp
      destroy_process_group get_debug_level get_default_backend_for_device get_node_local_rank
      get_pg_count is_backend_available is_initialized set_debug_level set_debug_level_from_env
      supports_complex""".split()))

for _name in """init_process_group rendezvous register_rendezvous_handler""".split():
    globals()[_name] = missing_function("torch.distributed." + _name)
    __all__.append(_name)
Store = missing_class("torch.distributed.Store")
Work = missing_class("torch.distributed.Work")
ProcessGroup = missing_class("torch.distributed.ProcessGroup")
for _name, _base in {
    "FileStore": Store, "HashStore": Store, "PrefixStore": Store, "TCPStore": Store,
    "ProcessGroupGloo": ProcessGroup, "ProcessGroupNCCL": ProcessGroup, "GradBucket": object,
    "P2POp": object, "BackendConfig": object,
}.items():
    globals()[_name] = missing_class("torch.distributed." + _name, _base)
    __all__.append(_name)
__all__ += ["Store", "Work", "ProcessGroup"]
del _name, _base, _line, _function, _member
