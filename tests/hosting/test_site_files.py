"""The files in a site's `modeldiagrams/` folder, and the removal of old ones."""

from __future__ import annotations

import json

import pytest

from graphs import nested_graph, small_graph
from modeldiagrams.engine.catalogue.site_index import read_index
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.hosting.site_files import (
    IndexEntry,
    build_diagram_files,
    build_shared_files,
    encode_figures,
    list_files,
    make_entry,
    parse_index,
)
from modeldiagrams.hosting.site_folder import SiteFolder
from modeldiagrams.options.settings import Settings, parse_settings
from modeldiagrams.render.draw import Picture
from option_helpers import make_options

PICTURE = Picture(svg="<svg></svg>", width=1, height=1, state={"expanded": [], "unrolled": []})


def diagram(model: str, **options) -> Diagram:
    return Diagram(id=model, options=make_options(model=model, **options), graph=small_graph(), picture=PICTURE)


def entry(name: str, figures: str = "") -> IndexEntry:
    return IndexEntry(id=name, model=name, page=f"{name}.html#a", snapshot=name, figures=figures)


def test_static_site_shares_no_script():
    settings = parse_settings(
        {"static_only": True, "css_variables": {"--mg-line": "red"}, "defaults": {"palette": {"loss": "#b00"}}}
    )
    files = build_shared_files(settings, [])
    assert sorted(files) == ["catalogue.css", "index.json", "model-graph.css"]
    assert files["model-graph.css"].endswith(b"\nmodel-graph{--mg-hue-loss:#bb0000;--mg-line:red;}\n")
    assert "model-graph.js" in build_shared_files(Settings(), [])


def test_index_is_sorted_and_without_duplicates():
    content = build_shared_files(Settings(), [entry("b.B"), entry("a.A"), entry("b.B")])["index.json"]
    index = json.loads(content)
    assert index["format"] == "modeldiagrams-index"
    assert [item["id"] for item in index["diagrams"]] == ["a.A", "b.B"]
    assert parse_index(content) == [entry("a.A"), entry("b.B")]


def test_index_has_each_id_once_with_all_pages():
    """As for a site in several languages, or two names of one class."""
    french = IndexEntry(id="a.A", model="a.models.A", page="fr/a.A.html#a", snapshot="a.models.A")
    content = build_shared_files(Settings(), [french, entry("a.A"), entry("b.B")])["index.json"]
    assert json.loads(content)["diagrams"] == [
        {"id": "a.A", "model": "a.A", "snapshots": ["a.A", "a.models.A"], "pages": ["a.A.html#a", "fr/a.A.html#a"]},
        {"id": "b.B", "model": "b.B", "snapshots": ["b.B"], "pages": ["b.B.html#a"]},
    ]


def test_index_lists_equal_figures_once_and_reads_them_again():
    """Of two figures of one diagram, a former page's and this build's, the last are those of the graph."""
    small, large = (encode_figures(graph) for graph in (small_graph(), nested_graph(2, 2)))
    entries = [entry("a.A", large), entry("c.C", large), entry("b.B"), entry("a.A", small), entry("a.B", small)]
    content = build_shared_files(Settings(), entries)["index.json"]
    index = json.loads(content)
    assert index["figures"] == [json.loads(small), json.loads(large)]
    assert {item["id"]: item.get("figures") for item in index["diagrams"]} == {
        "a.A": 0,
        "a.B": 0,
        "b.B": None,
        "c.C": 1,
    }
    read = parse_index(content)
    assert read == [entry("a.A", small), entry("a.B", small), entry("b.B"), entry("c.C", large)]
    assert build_shared_files(Settings(), read)["index.json"] == content


def test_index_of_an_earlier_version_is_read():
    former = {"format": "modeldiagrams-index", "version": "1.0"}
    listed = {"id": "a.A", "model": "a.A", "snapshots": ["a.A"], "pages": ["a.A.html#a"]}
    assert parse_index(json.dumps({**former, "diagrams": [listed]}).encode()) == [entry("a.A")]


def test_index_of_ten_thousand_models_stays_small():
    """Graphs of 577 models, 157 + 300 + 120, under other names."""
    figures = [
        encode_figures(small_graph()).replace('"parameters":8', f'"parameters":{10**8 + number}')
        for number in range(577)
    ]
    names = [f"torchvision.models.regnet_y_16gf_{number:04}" for number in range(10_000)]
    entries = [
        IndexEntry(
            id=name, model=name, snapshot=name, page=f"examples/catalogue/{name}.html", figures=figures[number % 577]
        )
        for number, name in enumerate(names)
    ]
    content = build_shared_files(Settings(), entries)["index.json"]
    assert len(content) < 3_000_000
    assert len(read_index(content).diagrams) == 10_000


@pytest.mark.parametrize(
    "content", [b"", b"{}", b'{"format": "modeldiagrams-index", "version": "2.0", "diagrams": []}']
)
def test_index_of_another_version_is_not_read(content):
    assert parse_index(content) is None


def test_index_entry_names_the_anchor():
    assert make_entry(diagram("a.A", name="net"), "guide/").page == "guide/#net"
    assert make_entry(diagram("a.A"), "guide/").page == "guide/"


def test_diagram_has_a_graph_and_if_interactive_data():
    failed = Diagram(id="c.C", options=make_options(model="c.C"))
    files = build_diagram_files([diagram("a.A"), diagram("b.B", static=True), failed])
    assert set(files) == list_files("a.A") | list_files("b.B", interactive=False)
    assert json.loads(files["a.A.json"])["format"] == "modeldiagrams"


@pytest.fixture
def folder(tmp_path) -> SiteFolder:
    """The folder after a build with two diagrams, with a file of the author."""
    folder = SiteFolder(tmp_path / "modeldiagrams")
    folder.write(build_diagram_files([diagram("a.A"), diagram("b.B")]))
    folder.finish(
        build_shared_files(Settings(), [entry("a.A"), entry("b.B")]), ["a.A.js", "a.A.json", "b.B.js", "b.B.json"]
    )
    folder.write({"own.json": b"{}"})
    return folder


def names(folder: SiteFolder) -> set[str]:
    return {file.name for file in folder.path.iterdir()}


def test_finish_removes_files_of_diagrams_that_are_gone_or_static(folder):
    folder.finish(build_shared_files(Settings(), [entry("a.A")]), ["a.A.json"])
    assert {name for name in names(folder) if name.startswith(("a.", "b."))} == {"a.A.json"}
    assert "model-graph.js" in folder
    assert folder.entries() == [entry("a.A")]


def test_finish_of_a_whole_site_removes_data_of_old_comparisons(folder):
    difference = build_diagram_files([diagram("c.C")])["c.C.js"]
    folder.write({"c.C.js": difference, "own.js": b"// an author's"})
    shared = build_shared_files(Settings(), [entry("a.A"), entry("b.B")])
    own = ["a.A.js", "a.A.json", "b.B.js", "b.B.json"]
    folder.finish(shared, own)
    assert "c.C.js" in folder
    folder.finish(shared, [*own, "c.C.js"], is_whole=True)
    assert "c.C.js" in folder
    folder.finish(shared, own, is_whole=True)
    assert "c.C.js" not in folder
    assert {"own.js", "own.json", *own, *shared} == names(folder)


def test_finish_removes_the_viewer_with_the_last_diagram_but_keeps_files_of_authors(folder):
    folder.finish({}, [])
    assert names(folder) == {"own.json"}


def test_finish_removes_an_empty_folder(folder):
    (folder.path / "own.json").unlink()
    folder.finish({}, [])
    assert not folder.path.exists()


def test_finish_removes_nothing_outside_the_folder(folder):
    outside = folder.path.parent / "page.json"
    outside.write_text("{}")
    folder.write({"index.json": build_shared_files(Settings(), [entry("../page")])["index.json"]})
    folder.finish({}, [])
    assert outside.is_file()


def test_missing_folder_has_no_entries(tmp_path):
    assert SiteFolder(tmp_path / "none").entries() is None
