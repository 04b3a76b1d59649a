"""Bad diagrams in MkDocs, and fences that another extension converts."""

from __future__ import annotations

import pytest


def test_only_a_strict_build_fails(build, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("---\ntitle: T\n---\n\n# T\n\n```model-graph\nmissing.json\n```\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nplugins: [modeldiagrams]\n")
    assert build(tmp_path, tmp_path / "out").returncode == 0
    strict = build(tmp_path, tmp_path / "out", "--strict")
    assert strict.returncode == 1
    assert "WARNING -  modeldiagrams: index.md:7: model-graph: missing.json" in strict.stderr, "front matter counts"
    assert "Aborted with 1 warnings in strict mode!" in strict.stdout


@pytest.mark.parametrize("extras", ["[pymdownx.superfences, pymdownx.extra]", "[pymdownx.extra]", "[tables]"])
def test_fence_works_beside_other_fence_extensions(extras, build, tmp_path, site):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "net.json").write_bytes((site / "docs" / "net.json").read_bytes())
    (tmp_path / "docs" / "index.md").write_text("```model-graph\nnet.json\n```\n")
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\nplugins: [modeldiagrams]\nmarkdown_extensions: {extras}\n")
    assert build(tmp_path, tmp_path / "out", "--strict").returncode == 0
    assert "<model-graph" in (tmp_path / "out" / "index.html").read_text("utf-8")


def test_a_fence_that_another_extension_converts_is_a_warning(build, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Title\n\n```model-graph\nnet.json\n```\n")
    extensions = "[pymdownx.superfences, markdown.extensions.extra]"
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\nplugins: [modeldiagrams]\nmarkdown_extensions: {extensions}\n")
    result = build(tmp_path, tmp_path / "out", "--strict")
    assert result.returncode == 1
    assert "index.md:3: this `model-graph` fence is printed as code" in result.stderr
