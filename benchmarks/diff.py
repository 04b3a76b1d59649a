"""Measures the CPU time to compare two graphs of ten thousand nodes in V8."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import transformers
from py_mini_racer import JSFunction, MiniRacer

import modeldiagrams
from benchmarks.layout import Large, llama, tokens, traced
from benchmarks.measure import alternating
from modeldiagrams.ir.serialize import load, serialize

if TYPE_CHECKING:
    import torch

BUDGET = 1.0
"""CPU seconds, including writing and reading the JSON of both graphs."""

READING = "(before, after) => { JSON.parse(before); JSON.parse(after); return '' }"


def deepseek(**settings: object) -> Callable[[], torch.nn.Module]:
    return lambda: transformers.DeepseekV3ForCausalLM(transformers.DeepseekV3Config(**settings))


EDITS = {"num_hidden_layers": 60, "moe_intermediate_size": 1024, "hidden_act": "gelu", "attention_bias": True}
MODELS = {
    "DeepSeek-V3": deepseek(),
    "with four edits": deepseek(**EDITS),
    "Llama, 126 layers": lambda: llama(126),
}


def main() -> None:
    """Print one row per pair."""
    print(f"\ndiff of two graphs, V8 warm: median CPU seconds, budget {BUDGET:g} s; ratio to only reading both")
    print(f"{'DeepSeek-V3 and':20}{'nodes':>14}{'diff s':>9}{'reading s':>11}{'ratio':>7}{'changes':>9}")
    with tempfile.TemporaryDirectory() as folder:
        graphs = {name: load(traced(name, Large(make, tokens()), Path(folder))) for name, make in MODELS.items()}
    engine = MiniRacer()
    read = cast("JSFunction", engine.eval(READING))
    before = graphs["DeepSeek-V3"]
    for name, after in graphs.items():
        texts = [serialize(graph).decode() for graph in (before, after)]
        compared, reading = alternating(
            lambda after=after: modeldiagrams.diff(before, after), lambda texts=texts: read(*texts), rounds=5
        )
        nodes = f"{len(before.nodes)} + {len(after.nodes)}"
        count = len(modeldiagrams.diff(before, after).changes)
        print(f"{name:20}{nodes:>14}{compared:9.2f}{reading:11.2f}{compared / reading:7.1f}{count:9}")
