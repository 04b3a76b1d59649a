"""`modeldiagrams history`: one model in all git tags, from its committed graph."""

from __future__ import annotations

import json
import os
import subprocess
from itertools import pairwise

import msgspec
import pytest
from click.testing import CliRunner

from graphs import changed_graph, small_graph
from modeldiagrams.cli import main
from modeldiagrams.engine.compare.history import UNRELEASED, find_history
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.html.history_chart import HEIGHT, WIDTH, build_panels
from modeldiagrams.ir.graph import Failure, Status
from modeldiagrams.ir.serialize import save

PARTIAL = msgspec.structs.replace(
    small_graph(), status=Status(state="partial", mode="real", error=Failure(type="ValueError", message="no"))
)
VERSIONS = {
    "v0.9": None,
    "v1.0": small_graph(),
    "v1.1": small_graph(),
    "v1.2": None,
    "v1.10": changed_graph(),
    "v1.11": "{}",
    "v1.12": PARTIAL,
    "v2.0": small_graph(),
}
STATES = {
    "v1.0": "first",
    "v1.1": "same",
    "v1.2": "missing",
    "v1.10": "changed",
    "v1.11": "failed",
    "v1.12": "failed",
    "v2.0": "changed",
}


class Repository:
    """A git repository with the graph `docs/model-graphs/mypkg.Net.json`."""

    def __init__(self, folder):
        self.folder = folder
        self.graph = folder / "docs" / "model-graphs" / "mypkg.Net.json"
        self.day = 1
        self.git("init", "-q", "-b", "main")

    def git(self, *words):
        names = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "a"}
        date = f"2026-01-{self.day:02}T12:00:00+00:00"
        environment = {**os.environ, **names, "GIT_COMMITTER_EMAIL": "a@b.c", "GIT_COMMITTER_DATE": date}
        subprocess.run(["git", *words], cwd=self.folder, env=environment, check=True, capture_output=True)

    def release(self, version, content):
        """Commit and tag a graph, some text instead, or none."""
        self.graph.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            self.graph.unlink(missing_ok=True)
        elif isinstance(content, str):
            self.graph.write_text(content, "utf-8")
        else:
            save(content, self.graph)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", version)
        self.git("tag", version)
        self.day += 1


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    made = Repository(tmp_path_factory.mktemp("repository"))
    for version, content in VERSIONS.items():
        made.release(version, content)
    return made


def states(history):
    return {release.version: release.state for release in history.releases}


def test_each_release_is_compared_with_the_previous_graph(repository):
    history = find_history(repository.graph)
    assert states(history) == STATES
    found = {release.version: release for release in history.releases}
    assert found["v1.0"].parameters == small_graph().model.parameters.total
    assert found["v1.10"].date == "2026-01-05"
    assert found["v1.10"].changes() == ["notable: op relu replaced by gelu at (model)"]
    assert found["v1.11"].problem.startswith("git:v1.11:mypkg.Net.json: $")
    assert "expected a complete graph" in found["v1.12"].problem
    assert found["v2.0"].changes() == ["notable: op gelu replaced by relu at (model)"]


def test_since_leaves_out_releases_without_the_revision(repository):
    assert states(find_history(repository.graph, "v1.10")) == {
        "v1.10": "first",
        "v1.11": "failed",
        "v1.12": "failed",
        "v2.0": "changed",
    }


def test_other_branches_are_ignored_and_tags_of_one_date_sort_by_number(tmp_path):
    repository = Repository(tmp_path)
    for version in ("v1.9", "v1.10"):
        repository.release(version, small_graph())
        repository.day -= 1
    repository.git("switch", "-q", "-c", "maintenance")
    repository.release("v1.9.1", changed_graph())
    repository.git("switch", "-q", "main")
    assert list(states(find_history(repository.graph))) == ["v1.9", "v1.10"]


def test_changes_after_the_last_tag_are_unreleased(tmp_path):
    repository = Repository(tmp_path)
    repository.release("v1.0", small_graph())
    assert list(states(find_history(repository.graph))) == ["v1.0"]
    save(changed_graph(), repository.graph)
    assert states(find_history(repository.graph)) == {"v1.0": "first", UNRELEASED: "changed"}


def test_a_graph_that_the_last_tag_lacks_is_unreleased(tmp_path):
    repository = Repository(tmp_path)
    repository.release("v1.0", small_graph())
    repository.release("v1.1", None)
    save(small_graph(), repository.graph)
    assert states(find_history(repository.graph)) == {"v1.0": "first", "v1.1": "missing", UNRELEASED: "same"}


def test_a_branch_may_have_the_name_of_a_tag(tmp_path):
    repository = Repository(tmp_path)
    repository.release("v1.0", small_graph())
    save(changed_graph(), repository.graph)
    repository.git("switch", "-q", "-c", "v1.0")
    repository.git("commit", "-q", "-a", "-m", "maintenance")
    assert states(find_history(repository.graph)) == {"v1.0": "first", UNRELEASED: "changed"}


@pytest.mark.parametrize(
    ("since", "problem"),
    [
        ("v9", "v9: expected a git revision: "),
        ("--format=x", "--format=x: expected a git revision"),
    ],
)
def test_an_unknown_revision_is_an_error(repository, since, problem):
    with pytest.raises(ModelDiagramsError, match=problem):
        find_history(repository.graph, since)


def test_missing_tags_graphs_and_repositories_are_errors(tmp_path, repository):
    with pytest.raises(ModelDiagramsError, match=r"other\.json: expected this file in a git tag"):
        find_history(repository.graph.with_name("other.json"))
    with pytest.raises(ModelDiagramsError, match="HEAD: expected a git revision: not a git repository"):
        find_history(tmp_path / "net.json")
    with pytest.raises(ModelDiagramsError, match=r"net\.json: expected a graph file, but there is no such folder"):
        find_history(tmp_path / "gone" / "net.json")
    empty = Repository(tmp_path)
    empty.graph.parent.mkdir(parents=True)
    empty.git("commit", "-q", "--allow-empty", "-m", "none")
    with pytest.raises(
        ModelDiagramsError, match="expected git tags that lead to the current commit; if this is a shal"
    ):
        find_history(empty.graph)


def test_the_command_prints_the_history(repository):
    def run(*words):
        return CliRunner().invoke(main, ["history", *map(str, words)])

    docs = repository.folder / "docs"
    text = run("mypkg.Net", docs, "--since", "v1.10").stdout
    assert "\nv1.10    2026-01-05 " in text
    assert text.endswith("notable: op gelu replaced by relu at (model)\n")
    assert run(repository.graph, "--since", "v1.10").stdout == text
    markdown = run("mypkg.Net", docs, "--format", "markdown").stdout
    assert "\n| Version | Date | Parameters | FLOPs | Changes |\n| --- | --- | ---: |" in markdown
    found = json.loads(run("mypkg.Net", docs, "--format", "json").stdout)
    assert found["format"] == "modeldiagrams-history"
    assert {release["version"]: release["state"] for release in found["releases"]} == STATES
    failed = run("mypkg.Other", docs)
    assert failed.exit_code == 2
    assert (
        "model-graphs: expected the graph of mypkg.Other; `modeldiagrams snapshot` writes it; if the documentation"
        in failed.stderr
    )


def test_each_call_of_a_model_has_its_history(repository):
    folder = repository.graph.parent
    for name in ("mypkg.Two-00000000", "mypkg.Two-11111111"):
        save(small_graph(), folder / f"{name}.json")
    failed = CliRunner().invoke(main, ["history", "mypkg.Two", str(folder.parent)])
    assert "several: mypkg.Two-00000000.json, mypkg.Two-11111111.json; name one of them" in failed.stderr


def test_labels_of_the_chart_do_not_overlap(tmp_path):
    repository = Repository(tmp_path)
    for i in range(30):
        repository.release(f"v1.{i}.0", small_graph() if i % 2 else changed_graph())
    (parameters, *_) = build_panels(find_history(repository.graph))
    assert len(parameters.bars) == 30
    assert parameters.bars[-1].version == "v1.29.0"
    assert max(bar.height for bar in parameters.bars) == HEIGHT
    shown = [bar for bar in parameters.bars if bar.version]
    assert 3 < len(shown) < 12
    assert all(b.middle - a.middle > 7 * 6 for a, b in pairwise(shown))
    assert parameters.width < WIDTH / 30
