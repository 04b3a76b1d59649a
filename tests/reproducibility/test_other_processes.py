"""Same input, same bytes, in any process: ids from `id()`, set order or hash seeds would show here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import modeldiagrams
from test_golden import GOLDEN, traced

TRACED = """
import sys
from pathlib import Path
from modeldiagrams import save
from test_golden import traced
save(traced("nested"), Path(sys.argv[1]))
"""
RANDOM = """
import sys
from pathlib import Path
import torch
from modeldiagrams import save, trace
torch.manual_seed(int(sys.argv[2]))
model = torch.nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
save(trace(model, (torch.randn(1, 3, 8), torch.randn(1, 2, 8))), Path(sys.argv[1]))
"""


def run(*command: object, seed: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, *map(str, command)], check=True, capture_output=True, env=environment)


def test_golden_graph_is_equal_in_another_process(tmp_path: Path) -> None:
    modeldiagrams.save(traced("nested"), tmp_path / "here.json")
    run("-c", TRACED, tmp_path / "there.json", seed="1")
    assert (tmp_path / "there.json").read_bytes() == (tmp_path / "here.json").read_bytes()


def test_weights_and_hash_seeds_do_not_show_in_a_graph(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        run("-c", RANDOM, tmp_path / f"{seed}.json", seed, seed=seed)
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_flat_picture_is_equal_in_another_process(form: str, tmp_path: Path) -> None:
    run("-m", "modeldiagrams", "render", GOLDEN / "nested.json", "--flat", "-o", tmp_path / f"one.{form}", seed="1")
    graph = modeldiagrams.load(GOLDEN / "nested.json")
    here = {
        "svg": lambda: modeldiagrams.to_svg(graph, flat=True).encode(),
        "png": lambda: modeldiagrams.to_png(graph),
        "pdf": lambda: modeldiagrams.to_pdf(graph),
    }
    assert (tmp_path / f"one.{form}").read_bytes() == here[form]()
