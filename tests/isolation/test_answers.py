"""Whatever the process of a model answers, every page is built, with a warning at the line of the diagram."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent / "project"
DRAWN = ("Good", "PrintsMuch")
NO_MESSAGE = "left the tracing process unable to answer: expected a message, got b'"
INVALID = "answered with an invalid graph: $"
REPORTED = {
    "WritesText": NO_MESSAGE,
    "WritesZeros": NO_MESSAGE,
    "WritesALength": NO_MESSAGE,
    "WritesMuch": NO_MESSAGE,
    "InvalidJson": INVALID,
    "InvalidText": INVALID,
    "HalfAGraph": INVALID,
    "NotANumber": INVALID,
    "Infinity": INVALID,
    "WrongType": INVALID,
    "Deep": INVALID,
    "Refused": INVALID,
    "Nothing": INVALID,
    "NoGraph": "unable to answer: Expected `bytes`, got `int`",
    "HalfAnAnswer": "ended the tracing process with exit status 0",
    "AnotherAnswer": "unable to answer: Expected `str`, got `int`",
}
MODELS = [*REPORTED, *DRAWN]
FENCE = "```model-graph\nmodel: hostile_answers.{}\ninputs: [1, 4]\n```\n\n"
RST = ".. model-graph:: hostile_answers.{}\n   :inputs: [1, 4]\n\n"


@pytest.mark.parametrize("host", ["sphinx", "mkdocs"])
def test_page_is_built_with_a_located_warning_for_each_model(tools, tmp_path, host):
    shutil.copy(PROJECT / "hostile_answers.py", tmp_path)
    (tmp_path / "docs").mkdir()
    if host == "sphinx":
        page, first, step = tmp_path / "index.rst", 4, 3
        page.write_text("Net\n===\n\n" + "".join(map(RST.format, MODELS)), "utf-8")
        (tmp_path / "conf.py").write_text(
            f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nextensions = ['sphinx_modeldiagrams']\n"
            "html_theme = 'basic'\n",
            "utf-8",
        )
        words = ["-q", "-d", str(tmp_path / "trees"), str(tmp_path), str(tmp_path / "out")]
    else:
        page, first, step = tmp_path / "docs" / "index.md", 3, 5
        page.write_text("# Net\n\n" + "".join(map(FENCE.format, MODELS)), "utf-8")
        (tmp_path / "mkdocs.yml").write_text("site_name: x\nplugins: [modeldiagrams]\n", "utf-8")
        words = ["build", "-f", str(tmp_path / "mkdocs.yml"), "-d", str(tmp_path / "out")]
    built = tools[host].run(words)
    assert built.returncode == 0, built.stderr
    warnings = [line for line in built.stderr.splitlines() if "WARNING" in line]
    for place, (model, said) in enumerate(REPORTED.items()):
        assert f"{page.name}:{first + step * place}: " in warnings[place], warnings[place]
        assert f"hostile_answers.{model} " in warnings[place]
        assert said in warnings[place]
    assert len(warnings) == len(REPORTED)
    text = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert text.count("<svg") == len(DRAWN)
    assert text.count('class="mg-problem"') == len(REPORTED)
