"""mike deploys two complete versions of a site."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphs import small_graph
from hosts.work_tree import NOBODY, WHO, changes, commit, git
from modeldiagrams.ir.serialize import save

CONFIG = """
site_name: versions
site_url: https://example.org/project/
plugins: [mike, modeldiagrams]
"""


@pytest.fixture
def deployed(tmp_path) -> Path:
    """What the branch holds after `mike deploy` of two versions, the second with a page more."""
    source = tmp_path / "source"
    (source / "docs").mkdir(parents=True)
    (source / "mkdocs.yml").write_text(CONFIG)
    (source / "docs" / "index.md").write_text("# Front\n\n```model-graph {#net}\nnet.json\n```\n")
    save(small_graph(), source / "docs" / "net.json")
    # mike starts `mkdocs` by its name
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **WHO, **NOBODY, "NO_MKDOCS_2_WARNING": "1", "PATH": path}

    def deploy(*versions: str) -> None:
        commit(source)
        script = "from mike.driver import main; main()"
        command = [sys.executable, "-c", script, "deploy", "--branch", "pages", *versions]
        subprocess.run(command, cwd=source, env=environment, check=True, capture_output=True)
        assert changes(source) == ""

    deploy("1.0")
    (source / "docs" / "other.md").write_text("# Other\n\n```model-graph\nmodel: net.json\ndirection: LR\n```\n")
    deploy("2.0", "latest")
    git(source, "worktree", "add", "-q", tmp_path / "pages", "pages")
    return tmp_path / "pages"


def test_each_deployed_version_has_its_own_index_and_graphs(deployed):
    for version, pages in (("1.0", ["#net"]), ("2.0", ["#net", "other/"])):
        folder = deployed / version / "modeldiagrams"
        listed = json.loads((folder / "index.json").read_text("utf-8"))["diagrams"]
        assert [page for entry in listed for page in entry["pages"]] == pages
        for entry in listed:
            assert json.loads((folder / f"{entry['id']}.json").read_text("utf-8"))["format"] == "modeldiagrams"
            for page in entry["pages"]:
                html = (deployed / version / page.partition("#")[0] / "index.html").read_text("utf-8")
                assert f'modeldiagrams/{entry["id"]}.js"' in html
            assert (folder / f"{entry['id']}.js").is_file()
        assert (folder / "model-graph.js").is_file()
    assert {path.name for path in deployed.iterdir()} == {".git", ".nojekyll", "1.0", "2.0", "latest", "versions.json"}
