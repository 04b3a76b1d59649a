"""Traces models on two processes, connected by gloo, next to the same models on one; started by `test_distributed`."""

import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import multiprocessing, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, distribute_module, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from modeldiagrams.ir.serialize import serialize
from modeldiagrams.tracer import trace

N = 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(8), nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, h):
        return h + self.down(torch.relu(self.up(self.norm(h))))


def make_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(10, 8), Block(), Block(), nn.Linear(8, 10))


def split(mesh):
    model = make_model()
    for block in model[1:3]:
        parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return model, torch.arange(4)


def shard(_mesh):
    model = make_model()
    for block in model[1:3]:
        fully_shard(block)
    return fully_shard(model), torch.arange(4)


def shard_and_split(_mesh):
    mesh = init_device_mesh("cpu", (1, N), mesh_dim_names=("sharded", "split"))
    model = split(mesh["split"])[0]
    for block in model[1:3]:
        fully_shard(block, mesh=mesh["sharded"])
    return model, torch.arange(4)


def distribute(mesh):
    return distribute_module(make_model(), mesh), distribute_tensor(torch.arange(4), mesh, [Replicate()])


CASES = (split, shard, shard_and_split, distribute)


def run(rank, folder, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    dist.init_process_group("gloo", rank=rank, world_size=N)
    mesh, alone = init_device_mesh("cpu", (N,)), make_model()
    expected = alone(torch.arange(4))
    for make in CASES:
        for n_before in (0, 1):
            model, given = make(mesh)
            for _ in range(n_before):
                model(given).sum().backward()
            graph = trace(model, (given,))
            result = model(given)  # the trace left it as it was
            torch.testing.assert_close(getattr(result, "full_tensor", lambda out=result: out)(), expected)
            again = trace(model, (given,))
            if rank == 0:
                (folder / f"{make.__name__}{n_before}.json").write_bytes(serialize(graph))
                (folder / f"{make.__name__}{n_before}-again.json").write_bytes(serialize(again))
    if rank == 0:
        (folder / "alone.json").write_bytes(serialize(trace(alone, (torch.arange(4),))))
    dist.destroy_process_group()


if __name__ == "__main__":
    multiprocessing.start_processes(run, (Path(sys.argv[1]), sys.argv[2]), nprocs=N, start_method="spawn")
