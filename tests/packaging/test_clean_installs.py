"""What README shows works in environments with only PyTorch and this package with one extra.

They are made of what is installed here, so nothing is downloaded: a package that no requirement names is not there.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shlex
import shutil
import signal
import subprocess
import venv
import zipfile
from collections import deque
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from hosts.environments import make_wheel

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = [body for _, body in re.findall(r"^(`{3,4})\w+\n(.*?)^\1$", README, re.MULTILINE | re.DOTALL)]
SHARED = frozenset({"sphinxcontrib"})
"""Packages without a file of their own, to which several distributions add."""
PATIENCE = 300
MODEL = """
from torch import nn


class Model(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 4, 16, 16), nn.ReLU(), nn.Flatten(), nn.Linear(784, 10))
"""
BEFORE = "import torch\nfrom mypkg import Model\nmodel, x = Model().eval(), torch.zeros(1, 3, 224, 224)\n"
NOTEBOOK = "assert 'Linear' in modeldiagrams.diagram(model, (x,))._repr_html_()\n"
TRAINING = """
with modeldiagrams.watch(model, every=1, path="run.mdwatch") as watcher:
    loss = model(x).sum()
    loss.backward()
    watcher.step(loss)
"""
CONVERSIONS = {
    "dot": "'digraph' in modeldiagrams.to_dot(graph).source",
    "networkx": "len(modeldiagrams.to_networkx(graph).nodes) > 4",
    "pandas": "len(modeldiagrams.to_pandas(graph)) > 0",
}


def block(start):
    """The block of README with this beginning."""
    (found,) = (body for body in BLOCKS if body.startswith(start))
    return found


def command(end):
    """The words of the command line in README with this end."""
    lines = (line.partition("  #")[0] for line in block("modeldiagrams summary").splitlines())
    (found,) = (line for line in lines if line.endswith(end))
    return "-m", *shlex.split(found)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return make_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def folder(tmp_path):
    """With a model and a graph file."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "mypkg.py").write_text(MODEL, "utf-8")
    shutil.copy(ROOT / "tests" / "golden" / "residual.json", folder / "model.json")
    return folder


@pytest.fixture
def start(wheel, folder, tmp_path):
    """Starts Python in the folder, in an environment that has this package with some extras."""

    def started(*words):
        names = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        names |= {"PYTHONDONTWRITEBYTECODE": "1", "NO_MKDOCS_2_WARNING": "1"}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([tmp_path / "venv/bin/python", *words], cwd=folder, text=True, env=names, **pipes)

    def installed(*extras):
        venv.create(tmp_path / "venv", with_pip=False)
        (library,) = tmp_path.glob("venv/lib/python*/site-packages")
        zipfile.ZipFile(wheel).extractall(library)
        for name in required(*extras):
            link(importlib.metadata.distribution(name), library)
        return started

    return installed


def required(*extras):
    """The distributions that this package needs with these extras."""
    names, queue = set(), deque([("modeldiagrams", {"", *extras})])
    while queue:
        name, wanted = queue.popleft()
        for line in importlib.metadata.requires(name) or ():
            needed = Requirement(line)
            is_needed = needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in wanted)
            if is_needed and needed.name not in names:
                names.add(needed.name)
                queue.append((needed.name, {"", *needed.extras}))
    return sorted(names)


def link(distribution, library):
    """Put an installed distribution into another environment."""
    for parts in {file.parts[: 1 + (file.parts[0] in SHARED)] for file in distribution.files}:
        path = library.joinpath(*parts)
        if not {"..", "__pycache__"}.intersection(parts) and not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.symlink_to(distribution.locate_file("/".join(parts)))


def run(process):
    """What it printed."""
    output, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return output


def test_python_notebook_and_command_line(start, folder):
    start = start("torch")
    assert "Linear" in run(start("-c", f"{BEFORE}{block('import modeldiagrams')}{NOTEBOOK}{TRAINING}"))
    assert "<model-graph" in (folder / "model.html").read_text("utf-8")
    assert (folder / "run.mdwatch").stat().st_size > 0
    summary, trace, svg = command('224]"'), command("-o model.json"), command("-o model.svg")
    assert "Linear" in run(start(*summary))
    for words in (trace, svg, [*svg[:-1], "again.html"]):
        run(start(*words))
    assert "Linear" in (folder / "model.svg").read_text("utf-8")
    assert "<model-graph" in (folder / "again.html").read_text("utf-8")


def test_sphinx(start, folder):
    (folder / "conf.py").write_text(block("# conf.py"), "utf-8")
    (folder / "index.rst").write_text(f"Model\n=====\n\n{block('.. model-graph')}", "utf-8")
    run(start("torch", "sphinx")("-m", "sphinx", "-W", "-q", ".", "out"))
    assert "<model-graph" in (folder / "out" / "index.html").read_text("utf-8")


@pytest.mark.zoo
def test_mkdocs(start, folder):
    (folder / "docs").mkdir()
    (folder / "mkdocs.yml").write_text(f"site_name: x\n{block('# mkdocs.yml')}", "utf-8")
    (folder / "docs" / "index.md").write_text(block("```model-graph"), "utf-8")
    run(start("torch", "mkdocs")("-m", "mkdocs", "build", "--strict", "-d", "out"))
    assert "<model-graph" in (folder / "out" / "index.html").read_text("utf-8")


@pytest.mark.parametrize(("extra", "content"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures(start, folder, extra, content):
    *words, _ = command("--fit a4 -o model.pdf")
    run(start("torch", extra)(*words, f"model.{extra}"))
    assert (folder / f"model.{extra}").read_bytes().startswith(content)


@pytest.mark.zoo
def test_watch(start):
    start = start("torch", "watch")
    run(start("-c", f"import modeldiagrams\n{BEFORE}{TRAINING}"))
    with start("-m", "modeldiagrams", "watch", "run.mdwatch", "--no-browser") as process:
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert "Traceback" not in process.communicate(timeout=PATIENCE)[1]


@pytest.mark.zoo
@pytest.mark.parametrize("extra", CONVERSIONS)
def test_conversions(start, extra):
    code = f"import modeldiagrams\ngraph = modeldiagrams.load('model.json')\nassert {CONVERSIONS[extra]}"
    run(start("torch", extra)("-c", code))
