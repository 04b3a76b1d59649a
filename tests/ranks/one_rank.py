"""One of two processes that train together, or alone: ``python one_rank.py FOLDER RANK WORLD``."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from modeldiagrams import watch

STEPS = 3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.act, self.down = nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 6)
        self.rare = nn.Identity()
        self.skips = False

    def forward(self, x):
        x = self.down(self.act(self.up(x))) + x
        return x if self.skips else self.rare(x)


def net():
    torch.manual_seed(0)
    return Net()


def batches(rank, world):
    generator = torch.Generator().manual_seed(1)
    every = [torch.randn(8, 6, generator=generator) for _ in range(STEPS)]
    return [batch.chunk(world)[rank] for batch in every]


def train(model, path, rank, world):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with watch(model, every=1, path=path) as watcher:
        for batch in batches(rank, world):
            loss = (model(batch) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            watcher.step(loss)


def sharded():
    model = net()
    fully_shard(model.up)
    fully_shard(model)
    return model


def main(folder, rank, world):
    torch.set_num_threads(1)
    if world > 1:
        dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=world)
        replica = net()
        replica.skips = rank == 1
        train(DistributedDataParallel(replica), folder / "ddp.mdwatch", rank, world)
        train(sharded(), folder / "fsdp.mdwatch", rank, world)
        fails(DistributedDataParallel(net()), folder / "failed.mdwatch", rank, world)
    else:
        train(net(), folder / "alone.mdwatch", rank, world)


def fails(model, path, rank, world):
    """The second process dies after a step; the first finds out when it waits for it."""
    watcher = watch(model, every=1, path=path)
    for step, batch in enumerate(batches(rank, world)):
        if rank and step == 1:
            sys.stdout.flush()
            import os  # noqa: PLC0415

            os._exit(7)
        (model(batch) ** 2).mean().backward()
        watcher.step()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
