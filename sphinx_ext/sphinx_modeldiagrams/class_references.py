"""Module classes as cross references: Sphinx resolves them like any other, intersphinx included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes
from sphinx.ext import intersphinx

from modeldiagrams.hosting.host import link_names, module_classes

if TYPE_CHECKING:
    from docutils.nodes import Element
    from sphinx.application import Sphinx
    from sphinx.domains import Domain
    from sphinx.environment import BuildEnvironment

    from modeldiagrams.engine.diagram import Diagram
    from sphinx_modeldiagrams.nodes import model_graph

__all__ = ["cross_references", "references", "resolve_any_as_class", "silence_missing_class"]

_MARK = "model-graph-class"


def cross_references(diagram: Diagram) -> list[addnodes.pending_xref]:
    """One reference for every name that a class of the diagram may be documented under."""
    classes = module_classes(diagram.graph) if diagram.graph else []
    return [_pending(class_name, target) for class_name in classes for target in link_names(diagram, class_name)]


def references(node: model_graph) -> dict[str, nodes.reference]:
    """Class → the reference that its most exact documented name was resolved to."""
    found: dict[str, nodes.reference] = {}
    for reference in node.findall(nodes.reference):
        for literal in reference.findall(nodes.literal):
            if _MARK in literal:
                found.setdefault(literal[_MARK], reference)
    return found


def silence_missing_class(_app: Sphinx, _domain: Domain | None, node: Element) -> bool | None:
    """Most classes in a model are not documented in this project: no warning for our references, even with ``-n``."""
    return True if _MARK in node else None


def resolve_any_as_class(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, contnode: nodes.TextElement
) -> nodes.reference | None:
    """Where another project has a class and its diagram, ``:any:`` finds the class.

    Intersphinx takes the first domain in alphabetical order, and `modeldiagrams` comes before `py`.
    """
    if node["reftype"] != "any" or "sphinx.ext.intersphinx" not in app.extensions:
        return None
    as_python = node.copy()
    as_python["refdomain"], as_python["reftype"] = "py", "obj"
    return intersphinx.missing_reference(app, env, as_python, contnode)


def _pending(class_name: str, target: str) -> addnodes.pending_xref:
    literal = nodes.literal("", class_name.rpartition(".")[2])
    literal[_MARK] = class_name
    reference = addnodes.pending_xref("", literal, refdomain="py", reftype="class", reftarget=target, refwarn=False)
    reference[_MARK] = class_name
    return reference
