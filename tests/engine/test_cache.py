from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams import cache as cache_module
from modeldiagrams import installed
from modeldiagrams.cache import Cache, graph_key, picture_key
from modeldiagrams.errors import OptionError
from modeldiagrams.options import Options
from modeldiagrams.render import Picture, View
from modeldiagrams.serialize import serialize
from modeldiagrams.worker import Traced

TRACED = Traced(graph=serialize(small_graph()), sources=())
PICTURE = Picture(svg="<svg></svg>", width=3, height=4, state={"expanded": ["a"]})


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "model.py"
    file.write_text("first = 1\n")
    return file


def test_a_graph_comes_back_with_its_bytes_and_sources(cache, source):
    names = {"a.b.C": ("a.C",)}
    cache.add_graph("key", Traced(graph=TRACED.graph, sources=(str(source),), libraries=("click",), names=names))
    cached = cache.graph("key")
    assert (cached.graph, cached.content) == (small_graph(), TRACED.graph)
    assert (cached.sources, cached.libraries, cached.names) == ((str(source),), ("click",), names)
    assert cache.graph("other") is None


def test_a_changed_source_makes_the_entry_invalid_and_its_return_valid_again(cache, source):
    cache.add_graph("key", Traced(graph=TRACED.graph, sources=(str(source),)))
    source.write_text("second = 2\n")
    assert cache.graph("key") is None
    source.write_text("first = 1\n")
    assert cache.graph("key") is not None
    source.unlink()
    assert cache.graph("key") is None


@pytest.mark.parametrize("python", [None, "bin/python"])
def test_an_upgraded_library_makes_the_entry_invalid(cache, tmp_path, monkeypatch, python):
    library = tmp_path / "lib" / "python3.12" / "site-packages"
    info = library / "layers-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: layers\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(library)
    interpreter = python and str(tmp_path / python)
    installed._version.cache_clear()
    cache.add_graph("key", Traced(graph=TRACED.graph, sources=(), libraries=("layers",)), interpreter)
    assert cache.graph("key") is not None
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: layers\nVersion: 1.1\n")
    installed._version.cache_clear()
    assert cache.graph("key") is None


def test_a_picture_comes_back(cache):
    cache.add_picture("key", PICTURE)
    assert cache.picture("key") == PICTURE


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"sources": {}, "digest": "0", "graph": {"format": "other"}}', b"\xff\xfe"]
)
def test_a_corrupt_entry_is_discarded_with_a_debug_message(cache, tmp_path, caplog, content):
    caplog.set_level(logging.DEBUG)
    cache.add_graph("key", TRACED)
    (path,) = (tmp_path / "cache").iterdir()
    path.write_bytes(content)
    assert cache.graph("key") is None
    assert not path.exists()
    assert "was discarded" in caplog.text
    assert caplog.records[0].levelno == logging.DEBUG


def test_a_cache_that_can_not_be_written_does_not_stop_the_build(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    (tmp_path / "file").write_text("")
    Cache(tmp_path / "file").add_picture("key", PICTURE)
    assert "was not written" in caplog.text


def test_the_key_depends_on_what_a_trace_is_made_from_and_on_nothing_else(tmp_path, monkeypatch):
    options = Options(model="mypkg.Model", kwargs={"a": 1})
    key = graph_key(options, tmp_path)
    same = [msgspec.structs.replace(options, depth=2, caption="Text", width="3px", class_="wide", timeout=9)]
    different = [
        Options(model="mypkg.Model2", kwargs={"a": 1}),
        Options(model="mypkg.Model", kwargs={"a": 2}),
        Options(model="mypkg.Model", kwargs={"a": 1}, args=[]),
        Options(model="mypkg.Model", config={"a": 1}),
        Options(model="mypkg.Model", inputs={"a": 1}),
        Options(model="mypkg.Model", kwargs={"a": 1}, inputs_from="mypkg.batch"),
        Options(model="mypkg.Model", kwargs={"a": {1: 2}}),
        Options(model="mypkg.Model", kwargs={"a": {"1": 2}}),
        Options(model="mypkg.Model", kwargs={"a": 1}, device="cuda"),
        Options(model="mypkg.Model", kwargs={"a": 1}, python="/other/bin/python"),
    ]
    assert {graph_key(other, tmp_path) for other in same} == {key}
    assert len({key, *(graph_key(other, tmp_path) for other in different)}) == len(different) + 1
    assert graph_key(options, tmp_path / "other") != key
    monkeypatch.setattr(cache_module, "made_with", lambda **_: ("9.9",))
    assert graph_key(options, tmp_path) != key


def test_an_option_that_is_not_plain_data_is_named(tmp_path):
    with pytest.raises(OptionError, match="option 'args': expected plain data"):
        graph_key(Options(model="mypkg.Model", args=[object()]), tmp_path)


def test_a_picture_depends_on_graph_view_and_viewer(monkeypatch):
    monkeypatch.setattr(cache_module, "viewer_digest", lambda: "1")
    keys = {
        picture_key(b"a", View()),
        picture_key(b"b", View()),
        picture_key(b"a", View(depth=1)),
        picture_key(b"a", View(expand=["x"])),
        picture_key(b"a", View(direction="LR")),
    }
    monkeypatch.setattr(cache_module, "viewer_digest", lambda: "2")
    assert len(keys | {picture_key(b"a", View())}) == 6


def test_what_was_not_used_for_longest_is_removed_when_there_is_too_much(cache, tmp_path):
    for key in "abc":
        cache.add_picture(key, PICTURE)
        file = tmp_path / "cache" / f"{key}.picture.json"
        os.utime(file, (ord(key), ord(key)))
    cache.picture("a")
    cache.trim(2 * file.stat().st_size)
    assert [cache.picture(key) is not None for key in "abc"] == [True, False, True]


def test_a_cache_that_was_only_read_is_not_trimmed(cache, tmp_path):
    cache.add_picture("a", PICTURE)
    again = Cache(tmp_path / "cache")
    again.trim(0)
    assert again.picture("a") == PICTURE


def test_two_processes_can_fill_one_folder_at_once(tmp_path):
    script = (
        "import sys; from pathlib import Path; from modeldiagrams.cache import Cache; from graphs import small_graph\n"
        "from modeldiagrams.serialize import serialize\n"
        "from modeldiagrams.worker import Traced\n"
        "traced = Traced(graph=serialize(small_graph()), sources=())\n"
        "for round in range(150):\n"
        "    cache = Cache(Path(sys.argv[1]))\n"
        "    for key in ('one', 'two'):\n"
        "        cache.add_graph(key, traced)\n"
        "        found = cache.graph(key)\n"
        "        assert found is None or found.content == traced.graph\n"
        "    if round % 10 == 9:\n"
        "        cache.trim(0)\n"
    )
    command = [sys.executable, "-c", script, tmp_path]
    tests = Path(__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")])}
    builders = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    assert [builder.communicate()[1] for builder in builders] == ["", ""]
    assert [builder.returncode for builder in builders] == [0, 0]
