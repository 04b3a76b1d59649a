"""`modeldiagrams catalogue` with folders, and with addresses of a real server."""

from __future__ import annotations

import csv
import gzip
import http.server
import io
import json
import threading
import time
from functools import partial

import pytest
import torch
from click.testing import CliRunner
from torch import nn

import modeldiagrams
from modeldiagrams.cli.commands import main
from modeldiagrams.engine.compare import sides
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.hosting.site_files import build_diagram_files, build_shared_files, make_entry
from modeldiagrams.hosting.site_folder import SiteFolder
from modeldiagrams.options.settings import Settings
from option_helpers import make_options
from site_figures import expected_figures, read_figures

OURS = {
    "acme.Small": nn.Linear(4, 4),
    "acme.Same": nn.ReLU(),
    "acme.nets.Deep": nn.Sequential(nn.Linear(4, 9), nn.GELU()),
}
THEIRS = {
    "acme.Small": nn.Linear(4, 4, bias=False),
    "zoo.Equal": nn.ReLU(),
    "zoo.Deep": nn.Sequential(nn.Linear(4, 8), nn.GELU()),
    "zoo.Only": nn.Tanh(),
}


def write_site(folder, models):
    """A built site, as hosts write it; each model has two diagrams."""
    graphs = {name: modeldiagrams.trace(model, (torch.ones(1, 4),)) for name, model in models.items()}
    diagrams = [
        Diagram(id=f"{name}-{digits}", options=make_options(model=name), graph=graph)
        for name, graph in graphs.items()
        for digits in ("1234abcd", "5678abcd")
    ]
    entries = [make_entry(diagram, f"models/{diagram.options.call.model}.html#net") for diagram in diagrams]
    files = {**build_shared_files(Settings(), entries), **build_diagram_files(diagrams)}
    SiteFolder(folder / "modeldiagrams").write(files)


class _Server(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; the first part of a path says in which way."""

    def do_GET(self):
        way, _, path = self.path.removeprefix("/").partition("/")
        if way in {"moved", "around"}:
            self.send_response(302)
            self.send_header("Location", f"/site/{path}" if way == "moved" else self.path)
            self.end_headers()
        elif way == "slow":
            time.sleep(2)
        elif way in ANSWERS or way == "zipped":
            content = ANSWERS.get(way) or gzip.compress(self.server.index.read_bytes())
            self.send_response(200)
            self.send_header("Content-Encoding", "gzip" if way == "zipped" else "identity")
            self.end_headers()
            self.wfile.write(content)
        else:
            super().do_GET()

    def log_message(self, *_):
        """Say nothing."""


ANSWERS = {
    "page": b"<!DOCTYPE html><title>Not found</title>",
    "foreign": b'{"format": "something"}',
    "broken": b'{"format":"modeldiagrams-index","version":"1.1","diagrams":[{"id":3}]}',
    "newer": b'{"format":"modeldiagrams-index","version":"2.0","models":[]}',
    "later": b'{"format":"modeldiagrams-index","version":"1.9","more":1,"figures":[{"class":"a.A","state":"complete",'
    b'"parameters":3,"more":1}],"diagrams":[{"id":"a.A","model":"a.A","snapshots":[],"pages":["a.html"],"figures":0}]}',
    "large": b"[" * 300_000,
}


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sites")
    write_site(folder / "site", OURS)
    write_site(folder / "theirs", THEIRS)
    former = folder / "former" / "modeldiagrams"
    former.mkdir(parents=True)
    listed = {"id": "acme.Small", "model": "acme.Small", "snapshots": ["acme.Small"], "pages": ["a.html"]}
    index = {"format": "modeldiagrams-index", "version": "1.0", "diagrams": [listed]}
    (former / "index.json").write_text(json.dumps(index), "utf-8")
    return folder


@pytest.fixture(scope="module")
def server(sites):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Server, directory=str(sites))) as server:
        server.index = sites / "site" / "modeldiagrams" / "index.json"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def run(*words):
    done = CliRunner().invoke(main, ["catalogue", *map(str, words)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_figures_are_those_of_the_graphs(sites, server):
    data = sites / "site" / "modeldiagrams"
    assert len(read_figures(data)) == 6
    rows = json.loads(run(f"{server}/site", "--format", "json").stdout)
    assert [row["name"] for row in rows] == sorted(OURS)
    for row in rows:
        name = row["name"]
        assert row == {**row, **expected_figures(data / f"{name}-1234abcd.json")}
        assert row["graph"] in {
            f"{server}/site/modeldiagrams/{name}-{digits}.json" for digits in ("1234abcd", "5678abcd")
        }
        assert row["page"] == f"{server}/site/models/{name}.html#net"
        assert modeldiagrams.load(sites / row["graph"].removeprefix(f"{server}/")).model.class_ == row["class"]


def test_folder_file_and_every_address_say_the_same(sites, server):
    expected = modeldiagrams.catalogue(f"{server}/site/")
    for address in ("site/modeldiagrams/index.json", "moved", "zipped"):
        found = modeldiagrams.catalogue(f"{server}/{address}")
        own = f"{server}/zipped" if address == "zipped" else f"{server}/site"
        assert json.dumps(found).replace(own, f"{server}/site") == json.dumps(expected)
    local = modeldiagrams.catalogue(sites / "site")
    assert local == modeldiagrams.catalogue(sites / "site" / "modeldiagrams" / "index.json")
    assert local[0]["page"] == str(sites / "site" / "models" / "acme.Same.html#net")
    assert modeldiagrams.load(local[0]["graph"]).model.class_ == "torch.nn.modules.activation.ReLU"
    places = {"page": None, "graph": None}
    assert [{**row, **places} for row in local] == [{**row, **places} for row in expected]


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("none", "expected a site's list of diagrams at this address: File not found"),
        ("around", "expected a site's list of diagrams at this address: The HTTP server returned a redirect error"),
        ("slow", "expected a site's list of diagrams at this address: timed out"),
        ("large", "expected a site's list of diagrams of at most 0 MB, got a larger one"),
        ("page", "expected a site's list of diagrams: $: expected JSON, got something else"),
        ("foreign", "expected a site's list of diagrams: $.format: expected 'modeldiagrams-index'"),
        ("broken", "expected a site's list of diagrams: $.diagrams[0].id: Expected `str`, got `int`"),
        ("newer", "$.version: this file has format version 2.0, this modeldiagrams reads up to 1.1; upgrade"),
    ],
)
def test_a_list_that_cant_be_read_is_one_sentence(server, monkeypatch, address, problem):
    monkeypatch.setattr(sides, "_PATIENCE", 1)
    monkeypatch.setattr(sides, "_LARGEST", 200_000)
    done = run(f"{server}/{address}")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {server}/{address}/modeldiagrams/index.json: "), done.stderr
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("site", ["nowhere", "ftp://example.org", "file:///etc"])
def test_a_place_without_site_is_an_error(site):
    done = run(site)
    assert (done.exit_code, "expected a site's list of diagrams: No such file" in done.stderr) == (2, True), done.output


def test_lists_of_other_versions_are_read(sites, server):
    (row,) = modeldiagrams.catalogue(f"{server}/later")
    assert (row["class"], row["parameters"], row["flops"], row["structure"]) == ("a.A", 3, None, "")
    done = run(sites / "former")
    assert "figures are missing, because an older modeldiagrams built it" in done.stderr
    assert done.stdout.split("\n")[2].split() == ["acme.Small", "–", "–", "–", "–"]
    (row, *_) = json.loads(run(sites / "former", sites / "site", "--format", "json").stdout)
    assert (row["name"], row["their_name"], row["is_same"]) == ("acme.Small", "acme.Small", None)


def test_table_is_sorted_and_filtered(sites):
    lines = run(sites / "site").stdout.splitlines()
    assert lines[0].split() == ["Model", "Parameters", "FLOPs", "Activations", "Inputs"]
    assert lines[4].split() == ["acme.nets.Deep", "45", "72", "72", "B", "input", "1×4"]
    assert lines[-2:] == ["Models: 3", "Costs: of one pass with these inputs"]
    rows = json.loads(run(sites / "site", "--sort", "parameters", "--format", "json").stdout)
    assert [row["parameters"] for row in rows] == [45, 20, 0]
    for pattern, found in {"S*": ["acme.Same", "acme.Small"], "acme.n*": ["acme.nets.Deep"], "x": []}.items():
        rows = json.loads(run(sites / "site", "--match", pattern, "--format", "json").stdout)
        assert [row["name"] for row in rows] == found
    assert run(sites / "site", "--match", "x", "--format", "csv").exit_code == 0


def test_two_sites_stand_side_by_side(sites, server):
    rows = json.loads(run(sites / "site", f"{server}/theirs", "--format", "json").stdout)
    assert [(row["name"], row["their_name"], row["is_same"]) for row in rows] == [
        ("acme.Same", "zoo.Equal", True),
        ("acme.Small", "acme.Small", False),
        ("acme.nets.Deep", "zoo.Deep", False),
        (None, "zoo.Only", None),
    ]
    assert [(row["parameters"], row["their_parameters"]) for row in rows] == [(0, 0), (20, 16), (45, 40), (None, 0)]
    table = run(sites / "site", f"{server}/theirs").stdout
    assert next(line.split() for line in table.splitlines() if "zoo.Deep" in line)[:5] == [
        "acme.nets.Deep",
        "zoo.Deep",
        "other",
        "45",
        "40",
    ]
    assert "In both: 3\nOnly here: 0\nOnly there: 1\n" in table
    read = list(csv.DictReader(io.StringIO(run(sites / "site", f"{server}/theirs", "--format", "csv").stdout)))
    assert [(row["name"], row["their_name"], row["their_inputs"]) for row in read][-1] == ("", "zoo.Only", "input 1×4")
