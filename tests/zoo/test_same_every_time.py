"""Inputs that are searched for are the same under any load: no clock decides what a diagram shows. Slow: `make zoo`.

`modeldiagrams snapshot` traces sixty models without options, again and again, while other processes compete for the
processor. `MODELDIAGRAMS_ZOO_ROUNDS` sets how often under each load (five, so twenty in all).
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from inference_zoo import ONLY_MODULES, entries

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import demo_models

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parents[1]
ROUNDS = int(os.environ.get("MODELDIAGRAMS_ZOO_ROUNDS", "5"))
TRANSFORMERS = ("Bert", "GPT2", "Llama", "ViT", "T5", "Whisper", "Clip", "Mamba", "Swin", "ConvNext")
MODELS = [
    *[entry.path for entry in entries() if not entry.options and entry.expected != ONLY_MODULES][:40],
    *[f"demo_models.{name}" for name in demo_models.__all__[:10]],
    *[f"transformers.{name.replace('Clip', 'CLIP')}Model" for name in TRANSFORMERS],
]
CONF = f"""
import sys
sys.path[:0] = {[str(TESTS), str(TESTS.parent / "docs")]!r}
extensions = ["sphinx_modeldiagrams"]
"""
BUSY = "while True: pass"


def write_documentation(folder: Path) -> Path:
    folder.mkdir()
    folder.joinpath("conf.py").write_text(CONF)
    options = {True: "   :config: {}\n", False: ""}
    directives = "\n".join(f".. model-graph:: {name}\n{options['transformers.' in name]}" for name in MODELS)
    folder.joinpath("index.rst").write_text(f"Models\n======\n\n{directives}")
    return folder


@pytest.fixture
def busy(request: pytest.FixtureRequest) -> Iterator[set[int]]:
    """The processors to run on, with this many processes that compete for them."""
    number, processors = request.param
    with ExitStack() as stack:
        for _ in range(number):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", BUSY]))
            stack.callback(process.kill)
            os.sched_setaffinity(process.pid, processors)
        yield processors


def snapshot(folder: Path, processors: set[int]) -> dict[str, bytes]:
    """Graph of each model as `modeldiagrams snapshot` writes it in a new folder, without a cache."""
    source = write_documentation(folder)
    run = subprocess.run(
        [sys.executable, "-m", "modeldiagrams", "snapshot", str(source)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        preexec_fn=lambda: os.sched_setaffinity(0, processors),
        capture_output=True,
        text=True,
        check=False,
    )
    written = {file.name: file.read_bytes() for file in sorted(source.glob("model-graphs/*.json"))}
    assert len(written) == len(MODELS), run.stderr[-3000:]
    return written


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return snapshot(tmp_path_factory.mktemp("expected") / "docs", os.sched_getaffinity(0))


ALL = os.sched_getaffinity(0)


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize(
    "busy",
    [(0, ALL), (4, ALL), (12, ALL), (9, {min(ALL)})],
    ids=["alone", "4 others", "12 others", "a tenth of one processor"],
    indirect=True,
)
def test_graphs_are_the_same_under_any_load(expected, busy, round_, tmp_path, share):
    found = snapshot(tmp_path / "docs", busy)
    same = [name for name in expected if found.get(name) == expected[name]]
    share(f"equal, round {round_}", len(same), len(expected))
    assert [name for name in expected if name not in same] == []
