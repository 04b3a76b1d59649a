"""What a second build removes, remembers and reads again."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.ir.graph import Failure, Status
from modeldiagrams.ir.serialize import save
from site_figures import read_figures

NET = ".. model-graph:: net.json\n"
IMPORTS = "import sys, pathlib\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\n"
SPY = f"""{IMPORTS}
from modeldiagrams.worker.forks import Forks
_running = Forks._running
def _told(forks):
    print("a process is needed")
    return _running(forks)
Forks._running = _told
"""
MODEL = """
from torch import nn

class Base(nn.Module):
    def forward(self, x):
        return self.fc(x).{op}()
"""
NETS = """
from torch import nn
from bases import Base

class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
"""


@pytest.fixture
def rebuild(build, tmp_path):
    """Builds a site again into the same folder; returns its output and the written files."""

    def run(source, *arguments, builder="html"):
        out = tmp_path / "out"
        before = {file: file.stat().st_mtime_ns for file in out.rglob("*.html")}
        result = build(source, out, "-b", builder, *arguments)
        assert result.returncode == 0, result.stderr
        written = {file.stem for file in out.rglob("*.html") if before.get(file) != file.stat().st_mtime_ns}
        return result, written - {"genindex", "search", "py-modindex"}

    return run


def edit(file: Path, text: str) -> None:
    """Write a file some time later, as people do."""
    file.write_text(text)
    later = file.stat().st_mtime + 10
    os.utime(file, (later, later))


def page(name: str, text: str) -> str:
    return f"{name}\n{'=' * len(name)}\n\n{text}\n"


def test_rebuild_removes_files_of_removed_diagrams_only(make_site, rebuild, tmp_path):
    source = make_site("", a=NET, b=f"{NET}   :no-index:\n   :depth: 1\n")
    folder = tmp_path / "out" / "modeldiagrams"
    rebuild(source)
    (folder / "of-somebody-else.json").write_text("{}")
    (source / "b.rst").unlink()
    edit(source / "a.rst", page("a", f"{NET}   :static:\n"))
    rebuild(source)
    assert {path.name for path in folder.glob("*.json")} == {
        *("index.json", "net.json.json", "of-somebody-else.json", "package.json")
    }
    assert not list(folder.glob("net*.js"))
    edit(source / "a.rst", page("a", "No diagram any more."))
    rebuild(source)
    assert [path.name for path in folder.iterdir()] == ["of-somebody-else.json"]


def test_diagrams_next_to_doctrees_are_removed_with_their_page_and_made_again_if_missing(make_site, rebuild, tmp_path):
    source = make_site("", a=NET, b=f"{NET}   :no-index:\n   :depth: 1\n")
    kept = tmp_path / "out.doctrees" / "model-diagrams"
    rebuild(source)
    assert len([*kept.glob("*/*.json")]) == 2
    shutil.rmtree(kept)
    rebuild(source, builder="text")
    assert len([*kept.glob("*/*.json")]) == 2
    (source / "b.rst").unlink()
    edit(source / "a.rst", page("a", f"{NET}   :depth: 2\n"))
    rebuild(source)
    assert len([*kept.glob("*/*.json")]) == 1


def test_silenced_failure_is_traced_again_only_after_a_change(make_site, rebuild):
    source = make_site(SPY, a=".. model-graph:: later.Net\n   :inputs: [1, 4]\n   :nowarn:\n")
    needed = "a process is needed"
    assert needed in rebuild(source, "-W")[0].stdout
    again, written = rebuild(source, "-W")
    assert needed not in again.stdout
    assert written == set()
    (source / "later.py").write_text(NETS.replace("from bases import Base", "Base = nn.Module"))
    again, written = rebuild(source, "-W")
    assert needed in again.stdout
    assert "a" in written


def test_a_certain_failure_is_reported_without_reading_its_page(make_site, rebuild):
    source = make_site(SPY, a=".. model-graph:: later.Net\n   :inputs: [1, 4]\n", b=".. model-graph:: gone.Net\n")
    needed = "a process is needed"
    first, _ = rebuild(source)
    assert needed in first.stdout
    assert "a.rst:4: WARNING: model-graph: later.Net: no module named 'later'" in first.stderr
    for _ in range(2):
        again, written = rebuild(source)
        assert needed not in again.stdout
        assert again.stderr == first.stderr
        assert written == set()
    edit(source / "b.rst", page("b", "No diagram any more."))
    again, written = rebuild(source)
    assert again.stderr.count("WARNING") == 1
    assert {"b"} <= written
    assert "a" not in written
    (source / "bases.py").write_text(MODEL.format(op="relu"))
    (source / "later.py").write_text(NETS)
    mended, written = rebuild(source, "-W")
    assert needed in mended.stdout
    assert "a" in written
    assert "WARNING" not in mended.stderr


def test_failed_automatic_diagram_warns_in_every_build(make_site, rebuild):
    raised = Failure(type="ValueError", message="odd width", frames=())
    status = Status(state="partial", mode="real", error=raised)
    source = make_site("", a=".. modeldiagrams-autodoc:: partial.json\n")
    save(msgspec.structs.replace(small_graph(), status=status), source / "partial.json")
    for _ in range(2):
        warned, written = rebuild(source)
        assert "a.rst:4: WARNING: model-graph: the forward pass of partial.json raised ValueError" in warned.stderr
        assert "a" in written


def test_edit_of_a_base_class_in_another_file_updates_the_page(make_site, rebuild, tmp_path):
    text = ".. model-graph:: nets.Net\n   :inputs: [1, 4]\n"
    source = make_site(IMPORTS, a=text, b=NET)
    (source / "nets.py").write_text(NETS)
    (source / "bases.py").write_text(MODEL.format(op="relu"))
    rebuild(source, "-W")
    edit(source / "bases.py", MODEL.format(op="sigmoid"))
    written = rebuild(source, "-W")[1]
    assert "a" in written
    assert "b" not in written
    (data,) = (tmp_path / "out" / "modeldiagrams").glob("nets.Net-*.json")
    assert "sigmoid" in data.read_text()


def test_references_follow_a_renamed_page(make_site, rebuild, tmp_path):
    source = make_site("", a=NET, b=":model-graph:`mypkg.Net`\n")
    rebuild(source, "-W")
    (source / "a.rst").rename(source / "c.rst")
    edit(source / "index.rst", page("Index", ".. toctree::\n\n   b\n   c\n"))
    edit(source / "b.rst", (source / "b.rst").read_text())
    rebuild(source, "-W")
    assert 'href="c.html#model-graph-mypkg.Net"' in (tmp_path / "out" / "b.html").read_text("utf-8")
    index = json.loads((tmp_path / "out" / "modeldiagrams" / "index.json").read_text())
    assert [entry["pages"] for entry in index["diagrams"]] == [["c.html#model-graph-mypkg.Net"]]
    assert read_figures(tmp_path / "out" / "modeldiagrams").keys() == {"net.json"}


def test_only_settings_that_change_pages_read_them_again(make_site, rebuild):
    source = make_site("", a=NET)
    rebuild(source, "-W")
    conf = (source / "conf.py").read_text()
    edit(source / "conf.py", f'{conf}modeldiagrams_cache_dir = "kept"\n')
    assert rebuild(source, "-W")[1] == set()
    edit(source / "conf.py", f'{conf}modeldiagrams_defaults = {{"direction": "LR"}}\n')
    assert rebuild(source, "-W")[1] == {"a", "index"}
