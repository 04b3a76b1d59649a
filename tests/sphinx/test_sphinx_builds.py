"""Parallel, repeated and incremental builds."""

from __future__ import annotations

import contextlib
import filecmp
import json
import os
import pickle
import shutil
import uuid
from pathlib import Path

import pytest

from sphinx_modeldiagrams.diagram_node import model_graph

PAGES = 8
OTHER = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)
"""


@pytest.fixture(scope="module")
def models_site(site):
    """Many pages, so that `-j 2` really forks; every second one shows a model that must be traced."""
    names = [f"page{number}" for number in range(PAGES)]
    for number, name in enumerate(names):
        model = f"tinymodels.Net\n   :args: [{1 + number // 4}]\n   :inputs: [1, 4]" if number % 2 else "net.json"
        (site / f"{name}.rst").write_text(
            f"{name}\n=====\n\n.. model-graph:: {model}\n   :caption: {name}\n   :no-index:\n"
        )
    # read last, so traced by a process that has loaded the other models
    (site / "z_other_model.py").write_text(OTHER)
    (site / "z_other.rst").write_text("Other\n=====\n\n.. model-graph:: z_other_model.Net\n   :inputs: [1, 4]\n")
    names.append("z_other")
    (site / "index.rst").write_text(
        # a note refers to it
        ".. _the-net:\n\nIndex\n=====\n\n.. toctree::\n\n   api\n   plain\n   guide/deep\n   guide/myst\n"
        + "".join(f"   {name}\n" for name in names)
    )
    return site


@pytest.fixture(scope="module")
def serial(models_site, build, tmp_path_factory):
    out = tmp_path_factory.mktemp("serial") / "out"
    result = build(models_site, out, "-W", "-n", "-j", "1")
    assert result.returncode == 0, result.stderr
    assert "a process is needed" in result.stdout
    return out


def differences(left: Path, right: Path) -> list[str]:
    """Files that are not byte for byte the same in both folders."""
    names = {str(file.relative_to(root)) for root in (left, right) for file in root.rglob("*") if file.is_file()}
    _, different, missing = filecmp.cmpfiles(left, right, sorted(names), shallow=False)
    # Sphinx pickles its environment with times of reading in it
    return [name for name in (*different, *missing) if not name.endswith(".pickle")]


def processes_with(mark: str) -> list[str]:
    """Processes that are still there from a build whose environment held this mark (where /proc tells)."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text())
    return found


def test_parallel_build_after_a_torch_op_equals_a_serial_one(models_site, serial, build, tmp_path):
    """In a new process, with another order of sets."""
    mark = uuid.uuid4().hex
    own = {"FIXTURE_TORCH_OP": "1", "FIXTURE_MARK": mark, "PYTHONHASHSEED": "7"}
    result = build(models_site, tmp_path / "out", "-W", "-n", "-j", "2", fresh=True, **own)
    assert result.returncode == 0, result.stderr
    assert differences(serial, tmp_path / "out") == []
    assert processes_with(mark) == []


def test_environment_and_doctrees_hold_plain_data(serial):
    doctrees = serial.with_name(f"{serial.name}.doctrees")
    environment = pickle.loads((doctrees / "environment.pickle").read_bytes())  # noqa: S301  (just written)
    kept = environment.domaindata["modeldiagrams"]
    assert json.loads(json.dumps(kept)) == kept
    # what Sphinx watches for the page
    assert {Path(file).name for file in environment.dependencies["z_other"]} == {"z_other_model.py"}
    doctree = pickle.loads((doctrees / "page1.doctree").read_bytes())  # noqa: S301
    (node,) = doctree.findall(model_graph)
    own = {name: value for name, value in node.attributes.items() if value}
    assert set(own) == {"diagram", "file", "packages"}
    assert own["diagram"] == kept["diagrams"]["page1"][0]["id"]
    assert (doctrees / "model-diagrams" / own["file"]).is_file()
    assert len(pickle.dumps(own)) < 1000


@pytest.mark.parametrize("everything", [(), ("-E",)])
def test_unchanged_build_starts_no_process(everything, models_site, serial, build):
    result = build(models_site, serial, *everything, doctrees=serial.with_name("out.doctrees"))
    assert result.returncode == 0, result.stderr
    assert "a process is needed" not in result.stdout


@pytest.fixture
def built(serial, tmp_path):
    """A copy of the serial build, with what it remembers."""
    for folder in (serial, serial.with_name("out.doctrees")):
        shutil.copytree(folder, tmp_path / folder.name)
    return tmp_path / "out"


def test_edited_model_updates_only_the_pages_that_show_it(models_site, build, built):
    out = built
    before = {file: file.stat().st_mtime_ns for file in out.rglob("*.html")}
    source = models_site / "tinymodels" / "__init__.py"
    text = source.read_text()
    source.write_text(text.replace("x = block(x)", "x = block(x).tanh()"))
    later = source.stat().st_mtime + 10
    os.utime(source, (later, later))
    try:
        assert build(models_site, out).returncode == 0
    finally:
        source.write_text(text)
    written = {file.stem for file, time in before.items() if file.stat().st_mtime_ns != time}
    assert {f"page{number}" for number in range(PAGES) if number % 2} <= written
    assert not {f"page{number}" for number in range(PAGES) if not number % 2} & written
    assert "z_other" in {file.stem for file in before} - written
    data = "".join(file.read_text() for file in (out / "modeldiagrams").glob("tinymodels.Net*.json"))
    assert "tanh" in data


def test_new_version_of_torch_updates_pages_with_diagrams(models_site, build, built, tmp_path):
    out, newer = built, tmp_path / "newer"
    before = {file: file.stat().st_mtime_ns for file in out.rglob("*.html")}
    info = newer / "torch-99.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 99\n")
    assert (
        build(
            models_site, out, fresh=True, PYTHONPATH=os.pathsep.join([str(newer), os.environ.get("PYTHONPATH", "")])
        ).returncode
        == 0
    )
    written = {file.stem for file, time in before.items() if file.stat().st_mtime_ns != time}
    assert "page1" in written
    assert "plain" not in written
