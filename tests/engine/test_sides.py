"""Authors' names of versions, and where these have their graphs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec
import pytest

from graphs import small_graph
from modeldiagrams.engine.compare import versions
from modeldiagrams.engine.compare.sides import Downloaded, graph_of, refuse_model, relative
from modeldiagrams.engine.compare.versions import find_side
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.serialize import save

SNAPSHOT = Path("docs/model-graphs/pkg.Net.json")
FOLDER = Path("docs")


@pytest.mark.parametrize(
    ("version", "revision"),
    [("v1.2", "v1.2"), ("main", "main"), ("git:main", "main"), ("git:release.next", "release.next")],
)
def test_a_revision_has_the_models_snapshot(version, revision):
    assert find_side(version, "pkg.Net", SNAPSHOT, FOLDER) == f"git:{revision}:model-graphs/pkg.Net.json"


def test_snapshots_may_be_next_to_the_pages():
    """As with MkDocs, whose pages have a folder of their own."""
    assert find_side("v1.2", "pkg.Net", SNAPSHOT, Path("docs/pages")) == "git:v1.2:../model-graphs/pkg.Net.json"


def test_dotted_path_is_a_model():
    assert find_side("pkg.Old", "pkg.Net", SNAPSHOT, FOLDER) is None


def test_the_sites_index_names_the_models_graph(monkeypatch):
    """A diagram's file is named by its view options, too."""
    listed = {"id": "pkg.Net-84e7b4ea", "model": "pkg.Net", "snapshots": ["pkg.Net"], "pages": []}
    index = msgspec.json.encode({"diagrams": [listed]})
    monkeypatch.setattr(versions, "download", lambda address, _: Downloaded(index, address))
    site = "https://mypkg.example/1.2"
    assert find_side(f"{site}/", "pkg.Net", SNAPSHOT, FOLDER) == f"{site}/modeldiagrams/pkg.Net-84e7b4ea.json"
    with pytest.raises(ModelDiagramsError, match=f"{site}: expected a site that shows this model.* has no pkg.Old$"):
        find_side(site, "pkg.Old", Path("docs/model-graphs/pkg.Old.json"), FOLDER)


def git(folder, *words):
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_a_folder_of_a_revision_is_not_a_graph(tmp_path):
    save(small_graph(), tmp_path / "graphs" / "net.json")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    assert graph_of("git:HEAD:graphs/net.json", refuse_model, tmp_path) == small_graph()
    with pytest.raises(ModelDiagramsError, match="git:HEAD:graphs: expected a file of that revision: "):
        graph_of("git:HEAD:graphs", refuse_model, tmp_path)


def test_a_git_command_that_hangs_is_an_error(tmp_path, monkeypatch):
    def wait(_command, *, stdin=None, timeout=None, **_):
        raise subprocess.TimeoutExpired("git", timeout) if stdin == subprocess.DEVNULL else AssertionError(stdin)

    monkeypatch.setattr(subprocess, "run", wait)
    with pytest.raises(ModelDiagramsError, match=r"^git:v1:net\.json: expected .*: git did not answer within 30 s$"):
        graph_of("git:v1:net.json", refuse_model, tmp_path)


@pytest.mark.parametrize("address", ["http://localhost:abc/net.json", "http://localhost:1/a net.json"])
def test_an_invalid_address_is_an_error(address):
    with pytest.raises(ModelDiagramsError, match="expected a graph file at this address"):
        graph_of(address, refuse_model)


def test_messages_have_no_absolute_path_of_the_documentation(tmp_path):
    error = ModelDiagramsError(f"{tmp_path / 'old' / 'net.json'}: damaged")
    assert relative(error, tmp_path).replace("\\", "/") == "old/net.json: damaged"
