"""`modeldiagrams check` compares every model of a documentation with its graph in another version."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import threading
from functools import partial

import msgspec
import pytest
import torch
from click.testing import CliRunner
from torch import nn

import modeldiagrams
from modeldiagrams.cli import main
from modeldiagrams.engine.snapshots import Snapshots
from modeldiagrams.options.settings import SNAPSHOTS as FOLDER

pytestmark = pytest.mark.usefixtures("site")


def traced(activation, width=4, size=1):
    return modeldiagrams.trace(nn.Sequential(nn.Linear(4, width), activation()).eval(), (torch.zeros(size, 4),))


OLD = {name: traced(nn.ReLU) for name in ("mypkg.Act", "mypkg.Same", "mypkg.Wide", "mypkg.Gone")}
NOW = {
    "mypkg.Act": traced(nn.GELU),
    "mypkg.Same": traced(nn.ReLU),
    "mypkg.Wide": traced(nn.ReLU, 8),
    "mypkg.New": traced(nn.ReLU),
}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Documentation with graphs, and with a fake builder, which shows the models of the returned mapping."""
    docs = tmp_path / "docs"
    graphs = docs / FOLDER
    graphs.mkdir(parents=True)
    (docs / "conf.py").touch()
    for name, graph in OLD.items():
        modeldiagrams.save(graph, graphs / f"{name}.json")
    (graphs / "package.json").write_text("{}", "utf-8")
    models = dict(NOW)
    run = subprocess.run

    def build(command, *, env=None, **words):
        if command[0] == "git":
            return run(command, env=env, **words)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "environ", env)
            kept = Snapshots(graphs)
            for name, graph in models.items():
                if name.endswith(".json"):
                    kept.note_mention(graphs / name, traced=False)
                    continue
                kept.note_mention(kept.path(name).absolute(), traced=True)
                if graph is not None:
                    kept.compare(name, graph)
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr(subprocess, "run", build)
    monkeypatch.chdir(tmp_path)
    return models


def check(*words):
    done = CliRunner().invoke(main, ["check", "docs", *words])
    assert "Traceback" not in done.output
    return done


def states(*words):
    return {model["name"]: model["state"] for model in json.loads(check("--format", "json", *words).stdout)["models"]}


ALL = {"mypkg.Act": "changed", "mypkg.Gone": "gone", "mypkg.New": "new", "mypkg.Same": "same", "mypkg.Wide": "changed"}


def test_each_model_is_compared_with_its_committed_graph(tmp_path):
    before = {path: path.read_bytes() for path in (tmp_path / "docs" / FOLDER).iterdir()}
    assert states() == ALL
    assert {path: path.read_bytes() for path in (tmp_path / "docs" / FOLDER).iterdir()} == before
    text = check().stdout
    assert "mypkg.Act\n  parameters 20, as before" in text
    assert "  notable   ReLU replaced by GELU at 1\n" in text
    assert "mypkg.New\n  new: there is no graph to compare with" in text
    assert "mypkg.Same" not in text
    assert text.endswith("2 changed, 1 new, 1 gone, 1 as before\n")


def test_compressed_graphs_are_compared_as_others(tmp_path):
    """As snapshots of catalogues, in the folder, in a revision and in another folder."""
    for path in (tmp_path / "docs" / FOLDER).glob("mypkg.*"):
        modeldiagrams.save(modeldiagrams.load(path), path.with_name(f"{path.name}.gz"))
        path.unlink()
    assert states() == ALL
    assert states("--against", f"docs/{FOLDER}") == ALL
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    git("tag", "v1")
    assert states("--against", "HEAD") == ALL
    run, act = partial(CliRunner().invoke, main), f"docs/{FOLDER}/mypkg.Act.json.gz"
    for before in ("v1", f"git:v1:{act}"):
        assert "no change" in run(["diff", before, act]).stdout
    assert "first shown" in run(["history", "mypkg.Act", "docs"]).stdout


def test_markdown_for_a_pull_request():
    text = check("--format", "markdown").stdout
    assert text.startswith("## Architectures: 2 changed, 1 new, 1 gone, 1 as before\n\n### mypkg.Act\n")
    assert "\n- **notable** ReLU replaced by GELU at 1\n" in text
    assert "### mypkg.Gone\n\ngone: no page shows it any longer" in text


@pytest.mark.parametrize(
    ("models", "levels"),
    [
        ((), {}),
        (("mypkg.New",), {"any": 1}),
        (("mypkg.Act",), {"any": 1, "notable": 1}),
        (("mypkg.Act", "mypkg.Wide"), {"any": 1, "notable": 1, "breaking": 1}),
    ],
)
def test_exit_status_follows_the_level(site, models, levels):
    site.clear()
    site.update(OLD)
    site.update({name: NOW[name] for name in models})
    for level in ("none", "any", "notable", "breaking"):
        assert check("--fail-on", level).exit_code == levels.get(level, 0), level


@pytest.mark.parametrize(
    ("graph", "told"),
    [
        (None, "not compared: its model could not be traced here; see above"),
        (traced(nn.ReLU, size=2), "reservation: the example inputs differ"),
    ],
)
def test_an_impossible_comparison_exits_with_2(site, graph, told):
    site.clear()
    site.update({**OLD, "mypkg.Act": graph})
    done = check("--fail-on", "breaking")
    assert (done.exit_code, told in done.stdout) == (2, True), done.output


def test_an_unreadable_graph_exits_with_2(tmp_path):
    (tmp_path / "docs" / FOLDER / "mypkg.Act.json").write_text("[", "utf-8")
    done = check("--fail-on", "none")
    assert done.exit_code == 2
    assert "mypkg.Act.json: $: expected JSON, got something else" in done.stdout


def git(*words):
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], check=True, capture_output=True)


def test_compares_with_a_revision(tmp_path, monkeypatch):
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    for path in (tmp_path / "docs" / FOLDER).iterdir():
        path.unlink()
    assert states("--against", "HEAD") == ALL
    monkeypatch.chdir("docs")
    done = CliRunner().invoke(main, ["check", "--against", "HEAD"])
    assert "2 changed, 1 new, 1 gone, 1 as before" in done.stdout
    monkeypatch.chdir("..")
    git("commit", "-qam", "second")
    for revision, problem in {
        "v9": "v9: expected a git revision, an address or a folder: Not a valid object name v9",
        "HEAD": "HEAD: expected graphs in model-graphs of that revision",
        "--output=x": "--output=x: expected a git revision",
    }.items():
        done = check(f"--against={revision}")
        assert (done.exit_code, problem in done.stderr) == (2, True), done.output


def write_site(folder):
    """Another version's site: it shows one model in two special ways, and another by two names, and a graph file."""
    folder = folder / "modeldiagrams"
    folder.mkdir(parents=True)
    shown = {
        "mypkg.Act-1234abcd": ["mypkg.Act"],
        "mypkg.Act-5678abcd": ["mypkg.Act"],
        "mypkg.Same": ["mypkg.Also", "mypkg.Same"],
        "mypkg.Gone-1234abcd": ["mypkg.Gone"],
        "mypkg.Gone-5678abcd": ["mypkg.Gone"],
    }
    entries = [
        {"id": id_, "model": id_[:10], "snapshots": names, "pages": ["index.html"]} for id_, names in shown.items()
    ]
    entries.append({"id": "net.json", "model": "mypkg.Wide", "snapshots": [], "pages": ["index.html"]})
    index = {"format": "modeldiagrams-index", "version": "1.7", "diagrams": entries, "more": 1}
    (folder / "index.json").write_text(json.dumps(index), "utf-8")
    for id_, names in shown.items():
        modeldiagrams.save(OLD[names[-1]], folder / f"{id_}.json")


def test_compares_with_a_built_site(tmp_path):
    write_site(tmp_path / "site")
    found = {**ALL, "mypkg.Wide": "new"}
    assert states("--against", "site") == found
    assert states("--against", f"docs/{FOLDER}") == ALL
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        assert states("--against", f"{address}/site/") == found
        assert states("--against", f"{address}/site/modeldiagrams/index.json") == found
        missing = check("--against", address)
        foreign = check("--against", f"{address}/docs/{FOLDER}/package.json/index.json")
        server.shutdown()
    assert missing.exit_code == 2
    assert f"{address}/modeldiagrams/index.json: expected a site's list of diagrams at this address" in missing.stderr
    assert foreign.exit_code == 2


@pytest.mark.parametrize("content", ["[", "{}", '{"diagrams": 3}'])
def test_a_foreign_list_of_diagrams_is_located(tmp_path, content):
    write_site(tmp_path / "site")
    (tmp_path / "site" / "modeldiagrams" / "index.json").write_text(content, "utf-8")
    done = check("--against", "site")
    assert done.exit_code == 2
    assert "index.json: expected a site's list of diagrams" in done.stderr


def test_a_named_graph_file_is_not_reported_as_gone(site, tmp_path):
    graphs = tmp_path / "docs" / FOLDER
    modeldiagrams.save(OLD["mypkg.Gone"], graphs / "kept.json")
    site |= {f"../{FOLDER}/kept.json": None, "mypkg.Same.json": None}
    assert states() == ALL
    assert states("--against", f"docs/{FOLDER}") == ALL


def test_an_empty_folder_is_no_version(tmp_path):
    (tmp_path / "empty").mkdir()
    done = check("--against", "empty")
    assert (done.exit_code, "empty: expected a folder of graph files, or a built site" in done.stderr) == (2, True)


def test_no_graph_on_either_side_is_an_error(site):
    site.clear()
    assert states() == dict.fromkeys(OLD, "gone")
    assert msgspec.json.decode(check("--format", "json").stdout)["format"] == "modeldiagrams-check"
