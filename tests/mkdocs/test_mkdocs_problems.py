"""Bad input: one located warning and a visible note each, everything else as if nothing had happened."""

from __future__ import annotations

import pytest

BAD = {
    "model": "model: tinymodels.Missing\ninputs: [1, 4]",
    "module": "nosuchpackage.Model",
    "init": "model: tinymodels.RaisesInInit\ninputs: [1, 4]",
    "forward": "model: tinymodels.RaisesInForward\ninputs: [1, 4]",
    "inputs": "model: tinymodels.Net\ninputs: [1, 5]",
    "graph-file": "broken.json",
    "graph-missing": "missing.json",
    "option": "model: tinymodels.Net\ninptus: [1, 4]",
    "value": "model: tinymodels.Net\ndepth: deep",
    "empty": "",
    "body": "model: tinymodels.Net\ninputs: [1,",
    # the last page by its name: this model ends the tracing process, and another takes seconds to start
    "worker": "model: tinymodels.Exits\ninputs: [1, 4]",
}


@pytest.fixture(scope="module")
def bad_site(site):
    """A page for every kind of bad input, and one without. The fence stands in line 8, front matter included."""
    docs = site / "docs"
    (docs / "broken.json").write_text('{"format": "modeldiagrams", "version": "1.0", "nodes": 3}')
    for name, body in BAD.items():
        page = f"---\ntitle: {name}\n---\n\n# {name}\n\nBefore.\n```model-graph\n{body}\n```\n\nAfter.\n"
        (docs / f"{name}.md").write_text(page)
    (docs / "good.md").write_text("# Good\n\n```model-graph\nmodel: tinymodels.Net\ninputs: [1, 4]\n```\n")
    (site / "mkdocs.yml").write_text("site_name: bad\nplugins: [modeldiagrams]\nhooks: [hooks.py]\n")
    return site


@pytest.fixture(scope="module")
def result(bad_site, build, tmp_path_factory):
    return build(bad_site, tmp_path_factory.mktemp("bad"), "--strict")


@pytest.fixture(scope="module")
def out(result):
    return result.args[result.args.index("-d") + 1]


def warnings_of(stderr: str, page: str) -> list[str]:
    return [line for line in stderr.splitlines() if f"{page}.md" in line]


def test_build_goes_through_without_torch(result):
    assert "Traceback" not in result.stderr
    assert "torch is loaded: False" in result.stdout


def test_only_a_strict_build_fails(result, build, tmp_path):
    assert result.returncode == 1
    assert f"Aborted with {len(BAD)} warnings in strict mode!" in result.stdout
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("```model-graph\nmissing.json\n```\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nplugins: [modeldiagrams]\n")
    assert build(tmp_path, tmp_path / "out").returncode == 0


@pytest.mark.parametrize("name", BAD)
def test_one_located_warning_and_a_note(name, result, out):
    (warning,) = warnings_of(result.stderr, name)
    assert warning.startswith("WARNING")
    assert f"{name}.md:8: model-graph: " in warning
    page = (out / name / "index.html").read_text("utf-8")
    assert page.count('class="mg-problem"') == 1
    assert "Before." in page
    assert "After." in page


def test_partial_diagram_is_shown_with_its_note(out):
    page = (out / "forward" / "index.html").read_text("utf-8")
    assert "half way through" in page
    assert "<svg" in page


def test_good_page_is_untouched(result, out):
    assert not warnings_of(result.stderr, "good")
    page = (out / "good" / "index.html").read_text("utf-8")
    assert "mg-problem" not in page
    assert "<svg" in page


@pytest.mark.parametrize("extras", ["[pymdownx.superfences, pymdownx.extra]", "[pymdownx.extra]", "[tables]"])
def test_fence_runs_whatever_else_is_configured(extras, build, tmp_path, site):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "net.json").write_bytes((site / "docs" / "net.json").read_bytes())
    (tmp_path / "docs" / "index.md").write_text("```model-graph\nnet.json\n```\n")
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\nplugins: [modeldiagrams]\nmarkdown_extensions: {extras}\n")
    assert build(tmp_path, tmp_path / "out", "--strict").returncode == 0
    assert "<model-graph" in (tmp_path / "out" / "index.html").read_text("utf-8")


def test_fence_that_another_extension_took_is_a_warning(build, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Title\n\n```model-graph\nnet.json\n```\n")
    extensions = "[pymdownx.superfences, markdown.extensions.extra]"
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\nplugins: [modeldiagrams]\nmarkdown_extensions: {extensions}\n")
    result = build(tmp_path, tmp_path / "out", "--strict")
    assert result.returncode == 1
    assert "index.md:3: this `model-graph` fence is printed as code" in result.stderr
