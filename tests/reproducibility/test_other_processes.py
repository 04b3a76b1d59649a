"""The same input gives the same bytes in any process, with any hash seed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import modeldiagrams
from reproducibility import flat_files
from test_golden import GOLDEN, traced

HERE = Path(__file__).parent
OTHER = """
import sys
from pathlib import Path
from test_other_processes import save_graphs
save_graphs(Path(sys.argv[1]), seed=2)
"""


def save_graphs(folder: Path, *, seed: int) -> None:
    """A golden graph, and that of a model with random weights and inputs."""
    modeldiagrams.save(traced("nested"), folder / "nested.json")
    torch.manual_seed(seed)
    model = torch.nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    graph = modeldiagrams.trace(model, (torch.randn(1, 3, 8), torch.randn(1, 2, 8)))
    modeldiagrams.save(graph, folder / "random.json")


def run(*command: object, seed: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    subprocess.run([sys.executable, *map(str, command)], check=True, capture_output=True, env=environment)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Graphs that this process made, and those of another one."""
    here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")
    save_graphs(here, seed=1)
    # the hash seed of this process is another one, and random
    run("-c", OTHER, there, seed="1")
    return here, there


@pytest.mark.parametrize("name", ["nested", "random"])
def test_graph_is_equal_in_another_process_whatever_weights_and_hash_seeds(
    folders: tuple[Path, Path], name: str
) -> None:
    here, there = ((folder / f"{name}.json").read_bytes() for folder in folders)
    assert here == there


def test_flat_pictures_are_equal_in_another_process(tmp_path: Path) -> None:
    run(flat_files.__file__, GOLDEN / "nested.json", tmp_path, seed="1")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == flat_files.contents(GOLDEN / "nested.json")
