"""Turns module classes into cross references, which Sphinx resolves, also with intersphinx."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.ext import intersphinx

from modeldiagrams.hosting.host import list_link_names, list_module_classes

if TYPE_CHECKING:
    from docutils.nodes import Element
    from sphinx.application import Sphinx
    from sphinx.domains import Domain
    from sphinx.environment import BuildEnvironment

    from modeldiagrams.engine.diagram import Diagram
    from sphinx_modeldiagrams.diagram_node import model_graph

__all__ = ["make_cross_references", "references", "resolve_any_as_class", "silence_missing_class"]

_MARK = "model-graph-class"


def make_cross_references(diagram: Diagram) -> list[addnodes.pending_xref]:
    """Make one reference for every name under which a class of the diagram may be documented."""
    classes = list_module_classes(diagram.graph) if diagram.graph else []
    return [
        _make_reference(class_name, target) for class_name in classes for target in list_link_names(diagram, class_name)
    ]


def references(node: model_graph) -> dict[str, nodes.reference]:
    """Map classes to the resolved references of their most exact documented names."""
    found: dict[str, nodes.reference] = {}
    for reference in node.findall(nodes.reference):
        for literal in reference.findall(nodes.literal):
            if _MARK in literal:
                found.setdefault(literal[_MARK], reference)
    return found


def silence_missing_class(_app: Sphinx, _domain: Domain | None, node: Element) -> bool | None:
    """Suppress warnings for our references even with ``-n``, because most classes in a model are not documented."""
    return True if _MARK in node else None


def resolve_any_as_class(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, contnode: nodes.TextElement
) -> nodes.reference | None:
    """Make ``:any:`` find a class of another project instead of its diagram.

    Intersphinx uses the first domain in alphabetical order, and `modeldiagrams` comes before `py`.
    """
    if node["reftype"] != "any" or "sphinx.ext.intersphinx" not in app.extensions:
        return None
    as_python = node.copy()
    as_python["refdomain"], as_python["reftype"] = "py", "obj"
    return intersphinx.missing_reference(app, env, as_python, contnode)


def _make_reference(class_name: str, target: str) -> addnodes.pending_xref:
    literal = nodes.literal("", class_name.rpartition(".")[2])
    literal[_MARK] = class_name
    reference = addnodes.pending_xref("", literal, refdomain="py", reftype="class", reftarget=target, refwarn=False)
    reference[_MARK] = class_name
    return reference
