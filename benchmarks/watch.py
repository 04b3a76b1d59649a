"""``python -m benchmarks watch``: the cost of watching a training step, compared to TorchExplorer and Weights & Biases.

Other tools take part if they are installed; TorchExplorer needs loguru, and ``dot`` of Graphviz on the PATH. Each has
its own model; all take turns, and a ratio is the median of the ratios to the plain step of the same round, because a
busy machine is slower now and then. CPU time, one thread, AdamW.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from operator import truediv
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from benchmarks.measure import in_turns
from modeldiagrams import load_recording, watch

ROUNDS = 11
EVERY = 100
BARS = {"recorded": 1.3, "amortised": 1.01, "step": 5.0}


class Residual(nn.Module):
    def __init__(self, width: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut: nn.Module = nn.Identity()
        if stride > 1 or width != out:
            self.shortcut = nn.Sequential(nn.Conv2d(width, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        result: torch.Tensor = self.relu(y + self.shortcut(x))
        return result


def resnet18() -> nn.Module:
    """Make a ResNet-18 with the usual first layers for images of 32 by 32; 11.2 million parameters."""
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
    for width, out in ((64, 64), (64, 128), (128, 256), (256, 512)):
        layers += [Residual(width, out, 1 + (width != out)), Residual(out, out, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.unflatten(-1, (4, -1)).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        result: torch.Tensor = x + self.mlp(self.norm2(x))
        return result


def gpt() -> nn.Module:
    """Make four layers of width 256; 3.4 million parameters."""
    return nn.Sequential(
        nn.Embedding(512, 256), *(Block(256) for _ in range(4)), nn.LayerNorm(256), nn.Linear(256, 512)
    )


def images() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(16, 3, 32, 32), torch.randint(0, 10, (16,))


def tokens() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randint(0, 512, (16, 128)), torch.randint(0, 512, (16 * 128,))


MODELS = {"ResNet-18": (resnet18, images), "GPT": (gpt, tokens)}


def training(make: Callable[[], nn.Module], batch: tuple[Any, Any], attach: Callable[[nn.Module], Any]) -> Any:
    """Return a function that makes a training step, with something attached to the model."""
    torch.manual_seed(0)
    model = make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    after = attach(model)

    def step() -> None:
        out = model(batch[0])
        functional.cross_entropy(out.flatten(0, -2), batch[1]).backward()
        optimizer.step()
        optimizer.zero_grad()
        after()

    return step


def ours(path: Path, every: int) -> Callable[[nn.Module], Callable[[], None]]:
    return lambda model: watch(model, every=every, path=path, start=1).step


def torchexplorer(model: nn.Module) -> Callable[[], None]:
    importlib.import_module("torchexplorer").watch(model, log_freq=1, backend="none")
    return lambda: None


def wandb(model: nn.Module) -> Callable[[], None]:
    os.environ.update(WANDB_MODE="offline", WANDB_SILENT="true")
    tool = importlib.import_module("wandb")
    run = tool.init(dir=tempfile.mkdtemp(), project="benchmark")
    tool.watch(model, log="all", log_freq=1)
    return lambda: run.log({"step": 1})


def main() -> None:
    torch.set_num_threads(1)
    folder = Path(tempfile.mkdtemp())
    rivals = {name: attach for name, attach in (("torchexplorer", torchexplorer), ("wandb", wandb)) if _is_there(name)}
    print(f"load of the machine: {os.getloadavg()[0]:.1f} for {os.cpu_count()} cores")
    for name, (make, batch) in MODELS.items():
        given, path = batch(), folder / f"{name}.mdwatch"
        attached = {
            "plain": lambda _: lambda: None,
            "not recorded": ours(folder / f"{name}-seldom.mdwatch", 1 << 40),
            "recorded": ours(path, 1),
            **rivals,
        }
        with contextlib.redirect_stdout(io.StringIO()):
            steps = {name: step for name, attach in attached.items() if (step := _working(make, given, attach))}
            seconds = dict(zip(steps, in_turns(*steps.values(), rounds=ROUNDS), strict=True))
        _report(name, seconds, path)
    print(f"step() when nothing is recorded: {_microseconds(folder / 'step.mdwatch'):.1f} µs (bar {BARS['step']})")


def _working(make: Callable[[], nn.Module], batch: Any, attach: Callable[[nn.Module], Any]) -> Any:
    """Return a training step; None if it fails, as TorchExplorer does without ``dot``."""
    try:
        step = training(make, batch, attach)
        step()
    except (OSError, RuntimeError, ImportError, AttributeError) as error:
        print(f"{attach}: {type(error).__name__}: {error}", file=sys.stderr)
        return None
    return step


def _report(name: str, seconds: dict[str, list[float]], path: Path) -> None:
    plain = seconds.pop("plain")
    ratios = {other: statistics.median(map(truediv, own, plain)) for other, own in seconds.items()}
    recorded = ratios["recorded"]
    others = ", ".join(f"{other} {ratio:.3f}" for other, ratio in ratios.items())
    tripwire = max(0.0, ratios["not recorded"] - 1)
    found = load_recording(path)
    rows = len(found.moments[-1].rows)
    size = path.stat().st_size / sum(len(moment.rows) for moment in found.moments)
    print(f"{name}: plain {statistics.median(plain):.3f} s; of it: {others}; {rows} rows, {size:.0f} bytes each")
    print(
        f"  recorded {recorded:.3f} (bar {BARS['recorded']}); amortised over {EVERY}: recording alone "
        f"{1 + (recorded - 1) / EVERY:.4f} (bar {BARS['amortised']}), with the steps between as measured "
        f"{1 + tripwire + (recorded - 1) / EVERY:.3f}"
    )


def _is_there(name: str) -> bool:
    try:
        importlib.import_module(name)
    except Exception as error:  # noqa: BLE001  (whatever it lacks)
        print(f"without {name}: {error}")
        return False
    return True


def _microseconds(path: Path) -> float:
    with watch(nn.Linear(4, 4), every=1 << 40, path=path, start=1) as watcher:
        start, n = time.perf_counter(), 100_000
        for _ in range(n):
            watcher.step()
        return (time.perf_counter() - start) / n * 1e6
