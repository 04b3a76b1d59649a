"""Every command in its own process: the documented exit statuses, and what was written.

A process may write all it should and die when it ends, which only its exit status shows.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from modeldiagrams.cli.commands import main
from modeldiagrams.engine.catalogue.site_index import ListedDiagram, encode_index
from modeldiagrams.ir.serialize import load, save
from samples import some

GOLDEN = Path(__file__).parents[1] / "golden"
COMMAND = (sys.executable, "-m", "modeldiagrams")
PATIENCE = 300
MODELS = """
import time
from pathlib import Path

from torch import nn


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.fc = nn.Linear(4, width)

    def forward(self, x):
        return self.fc(x).relu()


class Raises(Net):
    def forward(self, x):
        raise ValueError(super().forward(x).shape)


class Waits(Net):
    def forward(self, x):
        Path("waiting").touch()
        time.sleep(600)
"""
CASES = {
    "schema": [("", 0), ("more", 2)],
    "trace": [
        ("models.Net --inputs [1,4] -o traced.json", 0),
        ("models.Raises --inputs [1,4] -o partial.json", 1),
        ("models.Net --inputs [1", 2),
    ],
    "show": [
        ("models.Net --inputs [1,4] -o shown.svg", 0),
        ("models.Raises --inputs [1,4] -o raises.svg", 1),
        ("models.Net --depth none", 2),
    ],
    "summary": [
        ("residual.json", 0),
        ("models.Raises --inputs [1,4]", 1),
        ("missing.json", 2),
    ],
    "cost": [
        ("residual.json", 0),
        ("models.Net --inputs [1,4] --set B=3", 0),
        ("models.Raises --inputs [1,4]", 1),
        ("residual.json --set T=8", 2),
    ],
    "render": [
        *((f"residual.json -o residual.{suffix}", 0) for suffix in ("svg", "html", "png", "pdf", "mmd", "dot")),
        ("missing.json -o missing.svg", 2),
    ],
    "diff": [
        ("residual.json nested.json --fail-on none --format svg", 0),
        ("residual.json nested.json --format html", 0),
        ("residual.json residual.json --fail-on any", 0),
        ("residual.json nested.json --fail-on any", 1),
        ("residual.json fake.json --fail-on breaking", 2),
        ("residual.json missing.json", 2),
    ],
    "history": [("residual.json", 0), ("missing.json", 2)],
    "snapshot": [(". --prune", 0), ("unfound", 1), ("nowhere", 2)],
    "check": [(".", 0), ("changed", 1), ("unfound", 2), ("nowhere", 2)],
    "describe": [("residual.json", 0), ("models.Raises --inputs [1,4]", 1), ("missing.json", 2)],
    "ask": [
        ("residual.json costs 1", 0),
        ("residual.json find nothing", 1),
        ("nested.json changes residual.json", 1),
        ("residual.json path one", 2),
    ],
    "readme": [("README.md --check", 1), ("README.md", 0), ("README.md --check", 0), ("missing.md", 2)],
    "catalogue": [("site", 0), ("site site", 0), ("nowhere", 2)],
    "mcp": [("nowhere", 2)],
    "record": [("", 2)],
    "watch": [("missing.mdwatch --no-browser", 2)],
}
WRITTEN = {
    "trace": {"traced.json": b"{", "partial.json": b"{"},
    "show": {"shown.svg": b"<svg", "raises.svg": b"<svg"},
    "render": {
        "residual.svg": b"<svg",
        "residual.html": b"<!doctype html>",
        "residual.png": b"\x89PNG",
        "residual.pdf": b"%PDF",
        "residual.mmd": b"flowchart",
        "residual.dot": b"digraph",
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models, graphs, and documentations with MkDocs: of a model, one that has changed, one that doesn't exist.

    The first gets its snapshot from the command.
    """
    folder = tmp_path_factory.mktemp("used")
    (folder / "models.py").write_text(MODELS, "utf-8")
    for name in ("residual.json", "nested.json"):
        shutil.copy(GOLDEN / name, folder)
    graph = load(folder / "residual.json")
    (folder / "README.md").write_text("<!-- model-graph: residual.json -->\n<!-- /model-graph -->\n", "utf-8")
    (folder / "site" / "modeldiagrams").mkdir(parents=True)
    listed = ListedDiagram(id="net-1234abcd", model="net.Net", snapshots=["net.Net"], pages=["index.html"])
    (folder / "site" / "modeldiagrams" / "index.json").write_bytes(encode_index([], [listed]))
    fake = msgspec.structs.replace(graph.status, mode="fake")
    save(msgspec.structs.replace(graph, status=fake), folder / "fake.json")
    for name, model in {"": "Net", "changed": "Net", "unfound": "Nothing"}.items():
        (folder / name / "docs").mkdir(parents=True)
        (folder / name / "mkdocs.yml").write_text("site_name: x\nplugins: [modeldiagrams]\n", "utf-8")
        page = f"```model-graph\nmodel: models.{model}\n```\n"
        (folder / name / "docs" / "index.md").write_text(page, "utf-8")
    save(graph, folder / "changed" / "model-graphs" / "models.Net.json")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "residual.json"], cwd=folder, check=True)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, "commit", "-qm", "first"], cwd=folder, check=True)
    subprocess.run(["git", "tag", "v1"], cwd=folder, check=True)
    return folder


def run(folder, command, words):
    return subprocess.run(
        [*COMMAND, command, *words.split()], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def test_every_command_has_a_case():
    assert CASES.keys() == {*main.commands}


@pytest.mark.parametrize("command", some(CASES, {"schema", "trace", "render", "diff", "check", "watch"}))
def test_exit_statuses_are_the_documented_ones(folder, command):
    if command == "check":  # it compares with what this writes
        run(folder, "snapshot", ".")
    for words, status in CASES[command]:
        done = run(folder, command, words)
        assert done.returncode == status, (words, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
    for name, start in WRITTEN.get(command, {}).items():
        assert (folder / name).read_bytes().lstrip().startswith(start), name


def test_picture_is_the_golden_one(folder):
    assert run(folder, "render", "residual.json -o golden.svg").returncode == 0
    assert (folder / "golden.svg").read_bytes() == (GOLDEN / "residual.svg").read_bytes()


def test_interrupted_command_exits_with_130(folder):
    words = (*COMMAND, "show", "models.Waits", "--inputs", "[1,4]", "-o", "never.svg")
    with subprocess.Popen(words, cwd=folder, stderr=subprocess.DEVNULL) as process:
        while not (folder / "waiting").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    assert not (folder / "never.svg").exists()
