"""`modeldiagrams readme`, judged by GitHub's Markdown renderer, its rules for HTML, and PyPI's renderer."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from click.testing import CliRunner

from graphs import small_graph
from modeldiagrams.api.readme.marks import find_marks
from modeldiagrams.cli import main
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.serialize import save
from readme_pages import check_svg, shown_by_github, shown_by_pypi

ROOT = Path(__file__).parents[2]

PAGE = """---
license: mit
---
# Nets

<!-- model-graph: graphs/net.json depth=1 link="https://example.org/a?b=1&c=2" -->
an old text
<!-- /model-graph -->

```markdown
<!-- model-graph: mypkg.Example -->
<!-- /model-graph -->
```

The mark `<!-- model-graph: mypkg.Model -->` is code.

<!-- model-graph: graphs/net.json alt="A <small> net" width=80 -->
<!-- /model-graph -->
The end.
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graphs").mkdir()
    save(small_graph(), tmp_path / "graphs" / "net.json")
    (tmp_path / "README.md").write_text(PAGE, "utf-8")
    return tmp_path


def run(*words: str, status: int = 0) -> str:
    found = CliRunner().invoke(main, ["readme", *words])
    assert found.exit_code == status, found.output
    return found.output


def test_github_shows_a_light_and_a_dark_picture_with_text_and_link(project: Path) -> None:
    run("README.md", "--into", "images")
    text = (project / "README.md").read_text("utf-8")
    (link, first), (_, dark), (_, light), *second = shown_by_github(text)
    assert (link, first["href"]) == ("a", "https://example.org/a?b=1&c=2")
    assert dark["media"] == "(prefers-color-scheme: dark)"
    assert light["alt"].startswith("Architecture of Net: fc.")
    for address in (dark["srcset"], light["src"]):
        assert ET.parse(project / address).getroot().tag.endswith("svg")  # noqa: S314  (we wrote it)
    assert second[-1][1]["alt"] == "A <small> net"
    assert second[-1][1]["width"] == "80"
    assert "old text" not in text
    assert text.count("mypkg.Example") == PAGE.count("mypkg.Example")
    assert text.startswith("---\nlicense: mit\n---\n# Nets\n")
    assert text.endswith("<!-- /model-graph -->\nThe end.\n")


def test_pypi_shows_the_light_picture(project: Path) -> None:
    run("README.md", "--base-url", "https://raw.example.org/main/")
    found = shown_by_pypi((project / "README.md").read_text("utf-8"))
    pictures = [values["src"] for tag, values in found if tag == "img"]
    assert len(pictures) == 2
    assert all(re.fullmatch(r"https://raw\.example\.org/main/[\w.-]+\.svg", picture) for picture in pictures)
    assert {(project / picture.rpartition("/")[2]).is_file() for picture in pictures} == {True}


@pytest.mark.parametrize("name", ["nested", "repeated", "raises_midway"])
def test_svg_files_have_nothing_that_githubs_sanitiser_removes(tmp_path: Path, monkeypatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text(f"<!-- model-graph: {name}.json -->\n<!-- /model-graph -->\n", "utf-8")
    (tmp_path / f"{name}.json").write_bytes((ROOT / "tests" / "golden" / f"{name}.json").read_bytes())
    run("README.md")
    files = [*tmp_path.glob("*.svg")]
    assert len(files) == 2
    for file in files:
        check_svg(file)


def test_check_fails_until_the_pictures_are_written(project: Path) -> None:
    before = (project / "README.md").read_bytes()
    assert "README.md: out of date" in run("README.md", "--check", status=1)
    assert (project / "README.md").read_bytes() == before
    assert not [*project.glob("*.svg")]
    run("README.md")
    written = {path: path.read_bytes() for path in project.glob("*.*")}
    assert run("README.md", "--check") == ""
    run("README.md")
    assert {path: path.read_bytes() for path in project.glob("*.*")} == written


def test_a_changed_model_makes_it_out_of_date(project: Path) -> None:
    run("README.md")
    graph = (project / "graphs" / "net.json").read_text("utf-8")
    (project / "graphs" / "net.json").write_text(graph.replace("torch.relu", "torch.tanh"), "utf-8")
    assert ".svg: out of date" in run("README.md", "--check", status=1)


def test_pictures_that_no_mark_shows_any_longer_are_removed(project: Path) -> None:
    run("README.md")
    first = {path.name for path in project.glob("*.svg")}
    text = (project / "README.md").read_text("utf-8").replace("depth=1", "depth=0")
    (project / "README.md").write_text(text, "utf-8")
    run("README.md")
    left = {path.name for path in project.glob("*.svg")}
    assert len(left) == len(first) == 4
    assert left != first


def test_line_breaks_of_windows_stay(project: Path) -> None:
    (project / "README.md").write_bytes(PAGE.replace("\n", "\r\n").encode())
    run("README.md")
    content = (project / "README.md").read_bytes()
    assert b"<picture>\r\n" in content
    assert content.count(b"\n") == content.count(b"\r\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a\n<!-- model-graph: m.N -->\n",
            "line 2: expected `<!-- /model-graph -->` after `<!-- model-graph: m.N -->`",
        ),
        (
            "<!-- model-graph: a -->\n<!-- model-graph: b -->\n<!-- /model-graph -->",
            "line 1: expected `<!-- /model-graph -->` after `<!-- model-graph: a -->` before the next begins",
        ),
        ("<!-- /model-graph -->", "line 1: `<!-- /model-graph -->` closes nothing"),
        ("<!-- model-graph: -->\n<!-- /model-graph -->", "line 1: expected a model"),
        ("<!-- model-graph: m.N depth -->\n<!-- /model-graph -->", "line 1: expected `option=value`, got 'depth'"),
        ("<!-- model-graph: m.N a=1 a=2 -->\n<!-- /model-graph -->", "line 1: the option 'a' is given twice"),
        ("<!-- model-graph: m.N 'a=1 -->\n<!-- /model-graph -->", "line 1: a quote is not closed"),
    ],
)
def test_wrong_marks(text: str, message: str) -> None:
    with pytest.raises(ModelDiagramsError, match=re.escape(message)):
        find_marks(text)


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("graphs/net.json depth=x", "README.md:6: graphs/net.json: option `depth`: expected"),
        ("graphs/net.json caption=x", "README.md:6: graphs/net.json: option `caption`: belongs to pages"),
        ("graphs/net.json colour=x", "README.md:6: graphs/net.json: option `colour`: unknown"),
        ("graphs/none.json", "README.md:6: graphs/none.json: expected a readable graph file"),
        ("graphs/net.json width=wide", "README.md:6: graphs/net.json: option `width`: expected CSS pixels or percent"),
    ],
)
def test_wrong_options_write_nothing(project: Path, mark: str, message: str) -> None:
    text = PAGE.replace('graphs/net.json depth=1 link="https://example.org/a?b=1&c=2"', mark)
    (project / "README.md").write_text(text, "utf-8")
    assert message in run("README.md", status=2)
    assert (project / "README.md").read_text("utf-8") == text
    assert not [*project.glob("*.svg")]


def test_a_file_without_marks_is_named(project: Path) -> None:
    (project / "README.md").write_text("# Nets\n", "utf-8")
    for words in ([], ["--check"]):
        assert run("README.md", *words).splitlines()[-1].startswith("README.md: nothing to draw")
    assert (project / "README.md").read_text("utf-8") == "# Nets\n"


def test_the_action_checks_and_comments(project: Path) -> None:
    (step,) = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    tools = project / "bin"
    tools.mkdir()
    (tools / "gh").write_text('#!/bin/sh\necho "$@" > gh.log\ncat "${7}" >> gh.log\n', "utf-8")
    (tools / "gh").chmod(0o755)
    names = dict.fromkeys(step["env"], "")
    environment = os.environ | names | {"GITHUB_STEP_SUMMARY": "summary.md", "README": "README.md", "COMMENT": "true"}
    environment |= {"PULL_REQUEST": "7", "PATH": f"{tools}:{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", step["run"]], env=environment, check=False)
    assert done.returncode == 1
    log = (project / "gh.log").read_text("utf-8")
    assert log.startswith("pr comment 7 --edit-last --create-if-none --body-file ")
    assert "README.md: out of date" in log
    run("README.md")
    assert subprocess.run(["bash", "-c", step["run"]], env=environment, check=False).returncode == 0


def test_the_hook_is_a_command() -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    program, name, *flags = hooks["modeldiagrams-readme"]["entry"].split()
    assert (program, name, flags) == ("modeldiagrams", "readme", ["--check"])
    assert re.search(hooks["modeldiagrams-readme"]["files"], "models/README.md")
