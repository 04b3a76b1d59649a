"""`modeldiagrams readme`, judged by GitHub's Markdown renderer, its rules for HTML, and PyPI's renderer."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import cmarkgfm
import pytest
import yaml
from click.testing import CliRunner

from graphs import small_graph
from modeldiagrams.api.readme.marks import find_marks
from modeldiagrams.cli import main
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.serialize import load, save
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


RAISING = """\
from torch import nn

class Net(nn.Linear):
    def __init__(self):
        super().__init__(4, 2)

    def forward(self, x):
        raise ValueError(super().forward(x).shape)
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


def test_addresses_begin_at_the_current_folder(project: Path) -> None:
    (project / "cards").mkdir()
    (project / "cards" / "README.md").write_text(PAGE.replace("graphs/", "../graphs/"), "utf-8")
    words = ("cards/README.md", "--into", "my docs", "--base-url", "https://example.org/x", "--link", "/{model}")
    run(*words)
    found = shown_by_github((project / "cards" / "README.md").read_text("utf-8"))
    for _, values in found:
        address = values.get("src") or values.get("srcset")
        if address:
            assert address.startswith("https://example.org/x/cards/my%20docs/")
            assert (project / unquote(address.removeprefix("https://example.org/x/"))).is_file()
    assert [values["href"] for tag, values in found if tag == "a"][1] == "/../graphs/net.json"
    assert run(*words, "--check") == ""
    (project / "cards" / "README.md").write_text("nothing", "utf-8")
    text = (project / "README.md").read_text("utf-8").replace("depth=1", "depth=0")
    (project / "README.md").write_text(text, "utf-8")
    assert "expected a folder relative to each file's own" in run("README.md", "--into", str(project), status=2)


@pytest.mark.parametrize("name", ["nested", "repeated", "residual"])
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
    said = run("README.md", "--check", "--into", "my docs", status=1)
    assert "README.md:6: graphs/net.json: has no picture yet\n" in said
    assert "Run `modeldiagrams readme README.md --into 'my docs'`, and commit the result." in said
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
    said = run("README.md", "--check", status=1)
    assert "README.md:6: graphs/net.json: its picture is out of date" in said


def test_pictures_that_no_mark_shows_any_longer_are_removed(project: Path) -> None:
    run("README.md")
    first = {path.name for path in project.glob("*.svg")}
    text = (project / "README.md").read_text("utf-8").replace("depth=1", "depth=0")
    (project / "README.md").write_text(text, "utf-8")
    run("README.md")
    left = {path.name for path in project.glob("*.svg")}
    assert len(left) == len(first) == 4
    assert left != first


def test_only_own_pictures_that_nobody_shows_are_removed(project: Path) -> None:
    logo, outside = project / "logo.svg", project.parent / "theirs-12345678.svg"
    for file in (logo, outside):
        file.write_text("<svg/>", "utf-8")
    page = f'<img src="logo.svg"> <img src="{outside}">'
    (project / "README.md").write_text(PAGE.replace("an old text", page), "utf-8")
    (project / "README.zh.md").write_text(PAGE, "utf-8")
    run("README.md", "README.zh.md")
    first = {*project.glob("*.svg")}
    text = (project / "README.md").read_text("utf-8").replace("depth=1", "depth=0")
    (project / "README.md").write_text(text, "utf-8")
    run("README.md")
    assert {*project.glob("*.svg")} > first
    assert outside.exists()
    run("README.zh.md", "--check")
    text = (project / "README.zh.md").read_text("utf-8").replace("depth=1", "depth=0")
    (project / "README.zh.md").write_text(text, "utf-8")
    run("README.md", "README.zh.md")
    assert len({*project.glob("*.svg")} & first) == 3  # the logo, and the second place


def test_equal_names_in_two_folders_are_two_graphs(project: Path) -> None:
    for name, graph in (("a", small_graph()), ("b", load(ROOT / "tests" / "golden" / "nested.json"))):
        (project / name).mkdir()
        save(graph, project / name / "net.json")
        (project / name / "README.md").write_text("<!-- model-graph: net.json -->\n<!-- /model-graph -->", "utf-8")
    run("a/README.md", "b/README.md")
    texts = [shown_by_github((project / name / "README.md").read_text("utf-8"))[-1][1]["alt"] for name in "ab"]
    assert texts[0] != texts[1]


def test_a_model_that_raises_is_a_warning_and_a_status(project: Path) -> None:
    (project / "raising_net.py").write_text(RAISING, "utf-8")
    mark = "<!-- model-graph: raising_net.Net inputs=[1,4] -->\n<!-- /model-graph -->\n"
    (project / "README.md").write_text(mark, "utf-8")
    assert "Warning: README.md:1: raising_net.Net: " in run("README.md", status=1)
    assert "the model raised an error" in (project / "README.md").read_text("utf-8")
    assert "Warning: README.md:1: raising_net.Net: " in run("README.md", "--check", status=1)
    (project / "README.md").write_text(mark.replace("Net", "Nope"), "utf-8")
    assert "Error: README.md:1: raising_net.Nope: " in run("README.md", status=2)


def test_line_breaks_of_windows_stay(project: Path) -> None:
    (project / "README.md").write_bytes(PAGE.replace("\n", "\r\n").encode())
    run("README.md")
    content = (project / "README.md").read_bytes()
    assert b"<picture>\r\n" in content
    assert content.count(b"\n") == content.count(b"\r\n")


def test_one_line_break_of_windows_is_kept_alone(project: Path) -> None:
    (project / "README.md").write_bytes(PAGE.encode().replace(b"# Nets\n", b"# Nets\r\n"))
    run("README.md")
    content = (project / "README.md").read_bytes()
    assert (content.count(b"\r\n"), b"<picture>\n" in content) == (1, True)


@pytest.mark.parametrize(
    "code",
    [
        "    {}",
        "\t{}",
        "> {}",
        "```\n{}\n```",
        "1.  a\n\n    ```\n    {}\n    ```",
        "> ~~~ a`b\n> {}\n> ~~~",
        "`{}`",
        "````md\n```\n{}\n````",
    ],
)
def test_marks_in_code_and_quotes_are_left_alone(code: str) -> None:
    mark = "<!-- model-graph: m.N --><!-- /model-graph -->"
    html = cmarkgfm.github_flavored_markdown_to_html(code.format("x"))
    assert "<code" in html or "<blockquote" in html
    assert find_marks(code.format(mark)) == []
    assert len(find_marks(f"```pip install x``` installs it\n\n{mark}")) == 1


def test_a_place_in_a_list_stays_in_it(project: Path) -> None:
    text = "- one\n\n  <!-- model-graph: graphs/net.json -->\n  <!-- /model-graph -->\n\n  its end\n"
    (project / "README.md").write_text(text, "utf-8")
    run("README.md")
    text = (project / "README.md").read_text("utf-8")
    html = cmarkgfm.github_flavored_markdown_to_html(text, cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE)
    assert re.fullmatch(r"<ul>\s*<li>.*<picture>.*its end.*</li>\s*</ul>\s*", html, re.DOTALL)
    assert run("README.md", "--check") == ""


def test_a_file_without_marks_is_named(project: Path) -> None:
    (project / "README.md").write_text("# Nets\n", "utf-8")
    for words in ([], ["--check"]):
        assert run("README.md", *words).splitlines()[-1].startswith("README.md: nothing to draw")
    assert (project / "README.md").read_text("utf-8") == "# Nets\n"


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
        ("<!-- model-graph m.N -->\n<!-- /model-graph -->", "line 1: expected a model, `<!-- model-graph: mypkg.Model"),
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
        ("graphs/net.json width=wide", "README.md:6: graphs/net.json: option `width`: expected CSS pixels or percent"),
        ("graphs/net.json colour=x", "README.md:6: graphs/net.json: option `colour`: unknown"),
        ("graphs/none.json", "README.md:6: graphs/none.json: expected a readable graph file"),
    ],
)
def test_wrong_options_write_nothing(project: Path, mark: str, message: str) -> None:
    text = PAGE.replace('graphs/net.json depth=1 link="https://example.org/a?b=1&c=2"', mark)
    (project / "README.md").write_text(text, "utf-8")
    assert message in run("README.md", status=2)
    assert (project / "README.md").read_text("utf-8") == text
    assert not [*project.glob("*.svg")]


def test_the_action_checks_and_comments(project: Path) -> None:
    (step,) = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    tools = project / "bin"
    tools.mkdir()
    # as GitHub does, which has one comment of an earlier run after the first
    stand_in = 'if [ "$2" = --paginate ]; then if [ -f gh.log ]; then echo 5; fi; else echo "$@" >> gh.log; fi'
    (tools / "gh").write_text(f"#!/bin/sh\n{stand_in}\n", "utf-8")
    (tools / "gh").chmod(0o755)
    names = dict.fromkeys(step["env"], "")
    environment = os.environ | names | {"GITHUB_STEP_SUMMARY": "summary.md", "README": "README.md", "COMMENT": "true"}
    environment |= {"PULL_REQUEST": "7", "PATH": f"{tools}:{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"}
    environment["GITHUB_REPOSITORY"] = "org/project"
    logs = []
    for text, status in ((PAGE, 1), (f"{PAGE}<!-- model-graph: a -->", 1), ("# Nothing\n", 0)):
        (project / "README.md").write_text(text, "utf-8")
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        assert subprocess.run(command, env=environment, check=False).returncode == status
        logs.append((project / "gh.log").read_text("utf-8").removeprefix("".join(logs)))
    assert logs[0].startswith("api --method POST repos/org/project/issues/7/comments --raw-field body=<!-- ")
    assert "README.md:6: graphs/net.json: has no picture yet" in logs[0]
    assert logs[1].startswith("api --method PATCH repos/org/project/issues/comments/5 ")
    assert "README.md:20: expected `<!-- /model-graph -->`" in logs[1]
    assert "READMEs and committed graphs match the models." in logs[2]


def test_the_hook_is_a_command() -> None:
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    program, name, *flags = hooks["modeldiagrams-readme"]["entry"].split()
    assert (program, name, flags) == ("modeldiagrams", "readme", ["--check"])
    hook = hooks["modeldiagrams-readme"]  # a change of the model's code must run it, too
    assert (hook["args"], hook["types_or"], hook["pass_filenames"]) == (["README.md"], ["python", "markdown"], False)
