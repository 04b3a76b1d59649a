"""The Griffe extension alone: which docstrings get a fence, and with what."""

from __future__ import annotations

import griffe
import pytest

from mkdocs_modeldiagrams.griffe_extension import DiagramsExtension

SOURCE = """
from torch import nn


class Net(nn.Module):
    pass


class Asking(nn.Module):
    '''Says how.

    :model-graph: {depth: 1}
    '''


class Twisted(nn.Module, Net):
    '''No class that Python would take.'''


class Round(Round):
    '''Nor is this.'''


class Wrong(nn.Module):
    '''Can't be read.

    :model-graph: [1]
    '''


class Plain:
    pass
"""


@pytest.fixture
def classes(tmp_path, monkeypatch) -> dict[str, griffe.Object]:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    extensions = griffe.load_extensions(DiagramsExtension(["*"]))
    return dict(griffe.load("pkg", search_paths=[tmp_path], extensions=extensions).members)


def fence(documented: griffe.Object) -> str:
    docstring = documented.docstring
    return docstring.parsed[-1].value if docstring is not None else ""


def test_fence_names_file_and_line_of_the_field(classes):
    assert fence(classes["Asking"]) == (
        '```model-graph docstring="pkg/__init__.py:12"\n{"model": "pkg.Asking", "depth": 1}\n```'
    )


def test_a_class_without_a_docstring_gets_a_fence(classes):
    assert (
        fence(classes["Net"]) == '```model-graph-if-possible docstring="pkg/__init__.py:5"\n{"model": "pkg.Net"}\n```'
    )
    assert not classes["Net"].has_docstring, "whether it is shown is for mkdocstrings' setting to say"
    assert not fence(classes["Plain"])


def test_impossible_base_classes_do_not_stop_the_search(classes):
    assert '"pkg.Twisted"' in fence(classes["Twisted"])
    assert "```" not in fence(classes["Round"])


@pytest.mark.usefixtures("classes")
def test_malformed_field_warns_with_file_and_line(caplog):
    (record,) = caplog.get_records("setup")
    assert record.getMessage().startswith(
        "modeldiagrams: pkg/__init__.py:27: the field `:model-graph:`: expected nothing, "
    )


def test_inspected_class_has_a_location(tmp_path, monkeypatch):
    (tmp_path / "imported.py").write_text("class Net:\n    ':model-graph:'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    extensions = griffe.load_extensions(DiagramsExtension([]))
    module = griffe.load("imported", extensions=extensions, force_inspection=True)
    assert fence(module["Net"]).startswith('```model-graph docstring="imported.py')
