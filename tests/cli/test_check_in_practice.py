"""The pre-commit hook and the GitHub Action of the how-to page, on a documentation in a git repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from modeldiagrams.engine.snapshots import take_snapshots

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "pages" / "howto" / "compare.md").read_text("utf-8")
MODEL = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.fc(x))
"""


def block(first_line):
    """The YAML of the page that begins with this line."""
    start = PAGE.index(f"```yaml\n# {first_line}\n") + len("```yaml\n")
    return yaml.safe_load(PAGE[start : PAGE.index("\n```", start)])


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A package with documentation and its graph, committed."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "docs").mkdir()
    (folder / "net_of_repository.py").write_text(MODEL, "utf-8")
    (folder / "docs" / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(folder)!r})\nextensions = ['sphinx_modeldiagrams']\n",
        "utf-8",
    )
    (folder / "docs" / "index.rst").write_text("Net\n===\n\n.. model-graph:: net_of_repository.Net\n", "utf-8")
    assert len(take_snapshots(folder / "docs").written) == 1
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    hook = folder / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nexec {block('.pre-commit-config.yaml')['repos'][0]['hooks'][0]['entry']}\n", "utf-8")
    hook.chmod(0o755)
    model = (folder / "net_of_repository.py").read_text("utf-8")
    (folder / "net_of_repository.py").write_text(model.replace("nn.Linear(4, 4)", "nn.Linear(4, 6)"), "utf-8")
    return folder


def environment(**more):
    programs = Path(sys.executable).parent
    return {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1", **more}


def git(folder, *words):
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_snapshot_and_check_run_no_model_that_a_build_has_run(repository, tmp_path):
    outputs = [
        subprocess.run(command, cwd=repository, env=environment(), capture_output=True, text=True, check=False)
        for command in (
            [sys.executable, "-m", "sphinx", "docs", tmp_path],
            [sys.executable, "-m", "modeldiagrams", "check", "docs"],
            [sys.executable, "-m", "modeldiagrams", "snapshot", "docs"],
        )
    ]
    traced = ["tracing net_of_repository.Net" in done.stdout + done.stderr for done in outputs]
    assert traced == [True, False, False]
    assert [done.returncode for done in outputs] == [0, 1, 0]
    git(repository, "checkout", "docs")


def test_the_hook_stops_a_commit_without_the_new_graph(repository):
    status, output = git(repository, "commit", "-qam", "wider")
    assert status == 1
    assert "net_of_repository.Net" in output
    assert re.search(r"breaking .*4 → 6", output), output


def test_the_repository_offers_the_same_hook():
    offered, *_ = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    (written,) = block(".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert " ".join([offered["entry"], *offered["args"]]) == written["entry"]
    assert all(offered[key] == written[key] for key in ("id", "name", "language", "types", "pass_filenames"))


def test_the_action_writes_a_summary_and_fails_when_weights_no_longer_fit(repository, tmp_path):
    job = block(".github/workflows/architectures.yml")["jobs"]["check"]
    base = job["env"]["BASE"].replace("${{ github.base_ref }}", "main")
    summary = tmp_path / "summary.md"
    done = subprocess.run(
        ["bash", "-e", "-c", job["steps"][-1]["run"]],
        cwd=repository,
        env=environment(BASE=base, GITHUB_STEP_SUMMARY=str(summary)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    text = summary.read_text("utf-8")
    assert text.startswith("## Architectures: 1 changed\n\n### net\\_of\\_repository.Net\n")
    assert re.search(r"- \*\*breaking\*\* .*4 → 6", text), text
