from __future__ import annotations

import gzip
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.common import environment
from modeldiagrams.engine import cache as cache_module
from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.engine.cache import Cache, make_file_key, make_graph_key, make_view_key
from modeldiagrams.engine.store import Store, take_or_make
from modeldiagrams.ir.graph import Status
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.options import View
from modeldiagrams.render import assets
from modeldiagrams.render.draw import Picture
from modeldiagrams.render.picture_file import PictureFile
from modeldiagrams.worker import Traced
from option_helpers import make_options

TRACED = Traced(graph=serialize(small_graph()), sources=())
PICTURE = Picture(svg="<svg></svg>", width=3, height=4, state={"expanded": ["a"]})


@pytest.fixture
def cache(tmp_path):
    return Cache(Store(tmp_path / "cache"))


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "model.py"
    file.write_text("first = 1\n")
    return file


def test_cached_graph_keeps_its_bytes_and_sources(cache, source):
    names = {"a.b.C": ("a.C",)}
    cache.add_graph("key", Traced(graph=TRACED.graph, sources=(str(source),), libraries=("click",), names=names))
    cached = cache.graph("key")
    assert (cached.graph, cached.content) == (small_graph(), TRACED.graph)
    assert (cached.sources, cached.libraries, cached.names) == ((str(source),), ("click",), names)
    assert cache.graph("other") is None


def test_graph_is_invalid_while_a_source_differs(cache, source):
    cache.add_graph("key", Traced(graph=TRACED.graph, sources=(str(source),)))
    source.write_text("second = 2\n")
    assert cache.graph("key") is None
    source.write_text("first = 1\n")
    assert cache.graph("key") is not None
    source.unlink()
    assert cache.graph("key") is None


def test_other_names_are_valid_until_their_files_change(cache, source):
    cache.add_graph("key", Traced(graph=TRACED.graph, sources=(str(source),)), other_keys=["other"])
    assert cache.graph("other") == cache.graph("key")
    assert cache.has_graph("other")
    source.write_text("second = 2\n")
    cache.add_graph("key", Traced(graph=TRACED.graph, sources=()))
    assert cache.has_graph("key")
    assert not cache.has_graph("other")


def test_a_poorer_graph_does_not_replace_a_valid_one(cache, source):
    less = msgspec.structs.replace(small_graph(), status=Status(state="hierarchy"))
    worse = Traced(graph=serialize(less), sources=(str(source),))
    cache.add_graph("key", Traced(graph=TRACED.graph, sources=(str(source),)))
    cache.add_graph("key", worse)
    assert cache.graph("key").graph == small_graph()
    source.write_text("second = 2\n")
    cache.add_graph("key", worse)
    assert cache.graph("key").graph == less
    cache.add_graph("key", TRACED)
    assert cache.graph("key").graph == small_graph()


@pytest.mark.parametrize("python", [None, "bin/python"])
def test_graph_is_invalid_after_a_library_upgrade(cache, tmp_path, monkeypatch, python):
    library = tmp_path / "lib" / "python3.12" / "site-packages"
    info = library / "layers-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: layers\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(library)
    interpreter = python and str(tmp_path / python)
    environment._get_version.cache_clear()
    cache.add_graph("key", Traced(graph=TRACED.graph, sources=(), libraries=("layers",)), interpreter)
    assert cache.graph("key") is not None
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: layers\nVersion: 1.1\n")
    environment._get_version.cache_clear()
    assert cache.graph("key") is None


def test_an_entry_is_made_once(tmp_path):
    store, made = Store(tmp_path), []
    for kept in (store, store, None):
        assert take_or_make(kept, "key.picture", Picture, lambda: made.append(1) or PICTURE) == PICTURE
    assert len(made) == 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        gzip.compress(b"[]", mtime=0)[:12],
        b"\x1f\x8b\x08" + bytes(7) + b"\xff" * 9,
        # without the time: the workers of a run must collect tests of the same names
        *(
            gzip.compress(damaged, mtime=0)
            for damaged in (b"{", b"[]", b'{"sources": {}, "digest": "0", "graph": {"format": "other"}}', b"\xff\xfe")
        ),
    ],
)
def test_damaged_entry_is_removed_with_a_debug_message(cache, tmp_path, caplog, content):
    caplog.set_level(logging.DEBUG)
    cache.add_graph("key", TRACED)
    (path,) = (tmp_path / "cache").glob("*.json.gz")
    path.write_bytes(content)
    assert cache.graph("key") is None
    assert not path.exists()
    assert "was discarded" in caplog.text
    assert caplog.records[0].levelno == logging.DEBUG


def test_unwritable_cache_does_not_fail_the_build(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    (tmp_path / "file").write_text("")
    Store(tmp_path / "file").write("key", PICTURE)
    assert "was not written" in caplog.text


def test_graph_key_depends_on_call_device_interpreter_and_folder_only(tmp_path, monkeypatch):
    options = make_options(model="mypkg.Model", kwargs={"a": 1})
    key = make_graph_key(options, tmp_path)
    shown = {"depth": 2, "caption": "Text", "width": "3px", "class_": "wide", "timeout": 9}
    same = [make_options(model="mypkg.Model", kwargs={"a": 1}, **shown)]
    different = [
        make_options(model="mypkg.Model2", kwargs={"a": 1}),
        make_options(model="mypkg.Model", kwargs={"a": 2}),
        make_options(model="mypkg.Model", kwargs={"a": 1}, args=[]),
        make_options(model="mypkg.Model", config={"a": 1}),
        make_options(model="mypkg.Model", inputs={"a": 1}),
        make_options(model="mypkg.Model", kwargs={"a": 1}, inputs_from="mypkg.batch"),
        make_options(model="mypkg.Model", kwargs={"a": 1}, vocabulary={"inputs": {"x": [1]}}),
        make_options(model="mypkg.Model", kwargs={"a": 1}, measure_time=True),
        make_options(model="mypkg.Model", kwargs={"a": {1: 2}}),
        make_options(model="mypkg.Model", kwargs={"a": {"1": 2}}),
        make_options(model="mypkg.Model", kwargs={"a": 1}, device="cuda"),
        make_options(model="mypkg.Model", kwargs={"a": 1}, python="/other/bin/python"),
    ]
    assert {make_graph_key(other, tmp_path) for other in same} == {key}
    assert len({key, *(make_graph_key(other, tmp_path) for other in different)}) == len(different) + 1
    assert make_graph_key(options, tmp_path / "other") != key
    monkeypatch.setattr(cache_module, "made_with", lambda **_: ("9.9",))
    assert make_graph_key(options, tmp_path) != key


def test_picture_key_depends_on_graph_view_and_viewer(monkeypatch):
    monkeypatch.setattr(cache_module, "digest_viewer", lambda: "1")
    keys = {
        make_view_key(b"a", View()),
        make_view_key(b"b", View()),
        make_view_key(b"a", View(depth=1)),
        make_view_key(b"a", View(expand=["x"])),
        make_view_key(b"a", View(direction="LR")),
    }
    monkeypatch.setattr(cache_module, "digest_viewer", lambda: "2")
    assert len(keys | {make_view_key(b"a", View())}) == 6


@pytest.mark.parametrize("name", ["static.js", "inter-regular.ttf", "inter-semibold.ttf"])
def test_picture_file_depends_on_what_draws_it(name, tmp_path, monkeypatch):
    shutil.copytree(assets._STATIC, tmp_path / "static")
    monkeypatch.setattr(assets, "_STATIC", tmp_path / "static")
    before = make_file_key(b"{}", View(depth=1), "pdf", "light")
    assert make_file_key(b"{}", View(depth=1), "pdf", "light") == before
    (tmp_path / "static" / name).write_bytes(b"other")
    assert make_file_key(b"{}", View(depth=1), "pdf", "light") != before


def test_picture_file_depends_on_form_theme_and_view():
    keys = {
        make_file_key(b"{}", View(), "pdf", "light"),
        make_file_key(b"{}", View(), "png", "light"),
        make_file_key(b"{}", View(), "pdf", "dark"),
        make_file_key(b"{}", View(fit=(1.0, 2.0)), "pdf", "light"),
        make_view_key(b"{}", View()),
    }
    assert len(keys) == 5


def test_picture_file_comes_back_with_its_bytes(tmp_path):
    file = PictureFile(content=bytes(range(256)), width=3)
    Store(tmp_path).write("key", file)
    assert Store(tmp_path).read("key", PictureFile) == file


def test_trim_removes_the_least_recently_used_entries(tmp_path):
    store = Store(tmp_path)
    for key in "abc":
        store.write(key, PICTURE)
        file = tmp_path / f"{key}.json.gz"
        os.utime(file, (ord(key), ord(key)))
    store.read("a", Picture)
    store.trim(2 * file.stat().st_size)
    assert [store.read(key, Picture) is not None for key in "abc"] == [True, False, True]


def test_page_data_is_made_once_for_the_same_sources(tmp_path):
    made = iter("abc")
    made_from = ([b"1", b"2"], [b"1", b"2"], [b"12", b""], [b"1"])
    with DiagramBuilder(tmp_path, folder=tmp_path) as builder:
        assert [builder.page_data(parts, lambda: next(made)) for parts in made_from] == ["a", "a", "b", "c"]


def test_a_damaged_entry_is_made_again(tmp_path):
    store, path = Store(tmp_path), tmp_path / "key.json.gz"
    assert take_or_make(store, "key", str, lambda: "data") == "data"
    path.write_bytes(path.read_bytes()[:-3])
    assert take_or_make(store, "key", str, lambda: "made again") == "made again"
    assert b"made again" in gzip.decompress(path.read_bytes())


def test_store_that_has_written_nothing_is_not_trimmed(tmp_path):
    Store(tmp_path).write("a", PICTURE)
    store = Store(tmp_path)
    store.trim(0)
    assert store.read("a", Picture) == PICTURE


def test_two_processes_can_share_a_folder(tmp_path):
    script = (
        "import sys; from pathlib import Path; from modeldiagrams.engine.cache import Cache\n"
        "from modeldiagrams.engine.store import Store\n"
        "from graphs import small_graph\n"
        "from modeldiagrams.ir.serialize import serialize\n"
        "from modeldiagrams.worker import Traced\n"
        "traced = Traced(graph=serialize(small_graph()), sources=())\n"
        "for round in range(150):\n"
        "    store = Store(Path(sys.argv[1]))\n"
        "    cache = Cache(store)\n"
        "    for key in ('one', 'two'):\n"
        "        cache.add_graph(key, traced)\n"
        "        found = cache.graph(key)\n"
        "        assert found is None or found.content == traced.graph\n"
        "    if round % 10 == 9:\n"
        "        store.trim(0)\n"
    )
    command = [sys.executable, "-c", script, tmp_path]
    tests = Path(__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")])}
    builders = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    assert [builder.communicate()[1] for builder in builders] == ["", ""]
    assert [builder.returncode for builder in builders] == [0, 0]


def test_git_ignores_a_new_cache_folder_but_not_one_of_the_authors(tmp_path):
    Store(tmp_path / ".cache" / "modeldiagrams").write("a", 1)
    assert (tmp_path / ".cache" / "modeldiagrams" / ".gitignore").read_text() == "*\n"
    assert not (tmp_path / ".cache" / ".gitignore").exists()
    Store(tmp_path).write("a", 1)
    assert not (tmp_path / ".gitignore").exists()
