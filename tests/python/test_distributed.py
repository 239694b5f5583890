"""torch.distributed without communication: importable, and honest about what is not there."""

import inspect

import pytest
import torch
import torch.distributed as dist


def test_nothing_is_available():
    assert dist.is_available() is False and dist.is_initialized() is False
    assert not (dist.is_gloo_available() or dist.is_nccl_available() or dist.is_mpi_available())
    assert dist.group.WORLD is None and dist.get_pg_count() == 0


@pytest.mark.parametrize("call", [
    lambda: dist.get_rank(), lambda: dist.get_world_size(), lambda: dist.barrier(),
    lambda: dist.all_reduce(torch.ones(2)), lambda: dist.broadcast(torch.ones(2), src=0),
    lambda: dist.all_gather_object([None], 1), lambda: dist.new_group([0]),
])
def test_collectives_ask_for_a_group(call):
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        call()


def test_what_is_missing_names_itself():
    for call, name in [
        (lambda: dist.init_process_group("gloo"), "init_process_group"),
        (lambda: dist.TCPStore("localhost", 0), "TCPStore"),
        (lambda: dist.DeviceMesh("cpu", [0]), "DeviceMesh"),
        (lambda: dist.fsdp.FullyShardedDataParallel(torch.nn.Linear(1, 1)), "FullyShardedData"),
        (lambda: dist.tensor.distribute_tensor(torch.ones(2)), "distribute_tensor"),
    ]:
        with pytest.raises(NotImplementedError, match=name):
            call()
    with pytest.raises(AttributeError):
        dist.no_such_name


def test_names_that_libraries_use():
    from torch.distributed import ReduceOp, rpc
    from torch.distributed.fsdp import FullStateDictConfig, ShardingStrategy
    from torch.distributed.tensor import DTensor, Partial, Shard

    assert str(ReduceOp.SUM) == "RedOpType.SUM"
    assert dist.Backend("GLOO") == dist.Backend.GLOO == "gloo"
    assert issubclass(dist.QueueEmptyError, dist.DistStoreError)
    assert issubclass(DTensor, torch.Tensor) and not isinstance(torch.ones(1), DTensor)
    assert Shard(0) == Shard(0) != Shard(1) and repr(Partial()) == "Partial(sum)"
    assert Shard(1).is_shard(1) and not Shard(1).is_shard(0)
    assert ShardingStrategy.FULL_SHARD.value == 1
    assert FullStateDictConfig(rank0_only=True).offload_to_cpu is False
    assert list(inspect.signature(dist.reduce).parameters) == [
        "tensor", "dst", "op", "group", "async_op", "group_dst"]
    with pytest.raises(RuntimeError, match="RPC has not been initialized"):
        rpc.rpc_sync("a", print)


def test_local_rank(monkeypatch):
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    with pytest.raises(RuntimeError, match="LOCAL_RANK is not in the environment"):
        dist.get_node_local_rank()
    assert dist.get_node_local_rank(3) == 3
    monkeypatch.setenv("LOCAL_RANK", "2")
    assert dist.get_node_local_rank() == 2
