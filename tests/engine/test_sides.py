"""Versions as authors write them, and where their graphs are."""

from __future__ import annotations

from pathlib import Path

import pytest

from modeldiagrams.engine.compare.sides import graph_of, no_model, relative, side_of
from modeldiagrams.errors import ModelDiagramsError

SNAPSHOT = Path("docs/model-graphs/pkg.Net.json")


@pytest.mark.parametrize(
    ("version", "revision"),
    [("v1.2", "v1.2"), ("main", "main"), ("git:main", "main"), ("git:release.next", "release.next")],
)
def test_revisions_have_the_models_snapshot(version, revision):
    assert side_of(version, "pkg.Net", SNAPSHOT) == f"git:{revision}:model-graphs/pkg.Net.json"


def test_dotted_path_is_a_model():
    assert side_of("pkg.Old", "pkg.Net", SNAPSHOT) is None


@pytest.mark.parametrize("address", ["http://localhost:abc/net.json", "http://localhost:1/a net.json"])
def test_address_that_is_none_is_told(address):
    with pytest.raises(ModelDiagramsError, match="expected a graph file at this address"):
        graph_of(address, no_model)


def test_messages_have_no_absolute_path_of_the_documentation(tmp_path):
    error = ModelDiagramsError(f"{tmp_path / 'old' / 'net.json'}: damaged")
    assert relative(error, tmp_path).replace("\\", "/") == "old/net.json: damaged"
