"""Two machines build the same site: it doesn't depend on processor, threads, locale, time zone, hash seed or folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODELS = '''
import numpy as np
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.norm, self.fc, self.drop = nn.LayerNorm(8), nn.Linear(8, 8), nn.Dropout(rate)

    def forward(self, x):
        return x + self.drop(self.fc(self.norm(x)))


class Rates(nn.Module):
    """Its layers show numbers that PyTorch has computed."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(rate.item()) for rate in torch.linspace(0, 0.1, 24)])

    def forward(self, x):
        return self.blocks(x)


class Scaled(nn.Module):
    """Its ops take numbers that depend on weights, matrix products and long sums."""

    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 16, 3), nn.Linear(300, 300)

    def forward(self, image, x):
        image = self.conv(image)
        x = self.fc(x).softmax(-1)
        return image * float(np.sum(image.numpy())), x * float(x.std().numpy())
'''
PAGES = {
    "index": "Index\n=====\n\n.. toctree::\n\n   rates\n   scaled\n   empty\n",
    "rates": "Rates\n=====\n\n.. model-graph:: machine_nets.Rates\n   :inputs: [2, 8]\n",
    "scaled": "Scaled\n======\n\n.. model-graph:: machine_nets.Scaled\n   :inputs: [[2, 3, 64, 64], [300, 300]]\n",
    "empty": "Empty\n=====\n\nÜmläut.\n",
}
MACHINES = {
    "small": {
        "PYTHONHASHSEED": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "LC_ALL": "C",
        "TZ": "UTC",
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_CBWR": "COMPATIBLE",
    },
    # all that this processor has
    "large": {"PYTHONHASHSEED": "2", "OMP_NUM_THREADS": "4", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
}


def build(folder: Path, machine: str, processes: str) -> dict[str, bytes]:
    """Build the site as on a machine: file → content."""
    source = folder / machine / "docs"
    source.mkdir(parents=True)
    (source / "machine_nets.py").write_text(MODELS, "utf-8")
    conf = "import sys\nsys.path.insert(0, '.')\nextensions = ['sphinx_modeldiagrams']\nhtml_theme = 'basic'\n"
    (source / "conf.py").write_text(conf, "utf-8")
    for name, text in PAGES.items():
        (source / f"{name}.rst").write_text(text, "utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    for name in MACHINES["small"]:
        environment.pop(name, None)
    command = [sys.executable, "-m", "sphinx", "-W", "-j", processes, "-d", "../doctrees", ".", "../out"]
    environment |= MACHINES[machine] | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    out = source.parent / "out"
    return {str(file.relative_to(out)): file.read_bytes() for file in out.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, bytes]]:
    """The site of each machine."""
    folder = tmp_path_factory.mktemp("machines")
    return [build(folder, machine, processes) for machine, processes in (("small", "1"), ("large", "3"))]


def test_two_machines_build_one_site(sites: list[dict[str, bytes]]) -> None:
    small, large = sites
    assert small.keys() == large.keys()
    assert [name for name, content in small.items() if large[name] != content] == []


def test_its_graphs_hold_numbers_that_processors_compute(sites: list[dict[str, bytes]]) -> None:
    graphs = {name: content.decode() for name, content in sites[0].items() if name.endswith(".json")}
    assert any('"p":0.00434782' in text for text in graphs.values()), graphs.keys()
    assert any('"mode":"real"' in text for text in graphs.values())
