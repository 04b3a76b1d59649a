"""Links undocumented classes to their source, through linkcode or viewcode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sphinx.util import logging

from modeldiagrams.ir.graph import ModuleNode

if TYPE_CHECKING:
    from collections.abc import Collection

    from sphinx.builders.html import StandaloneHTMLBuilder
    from sphinx.environment import BuildEnvironment

    from modeldiagrams.ir.graph import Graph
    from sphinx_modeldiagrams.diagram_node import model_graph

__all__ = ["Definition", "find_definitions", "find_viewcode_url", "list_documented_packages", "make_linkcode_url"]

_log = logging.getLogger(__name__)


class Definition(NamedTuple):
    """The module and name of a class."""

    module: str
    name: str
    """Dotted for a nested class."""


def find_definitions(graph: Graph) -> dict[str, Definition]:
    """Find the definitions of all module classes."""
    return {node.class_: _split_name(node.class_, node.source) for node in graph.nodes if isinstance(node, ModuleNode)}


def list_documented_packages(env: BuildEnvironment, node: model_graph) -> set[str]:
    """Return the packages that the site documents, and those of a diagram's model outside site-packages."""
    documented = env.domaindata.get("py", {}).get("objects", {})
    return {*node["packages"], *(name.partition(".")[0] for name in documented)}


def make_linkcode_url(builder: StandaloneHTMLBuilder, class_: Definition, own: Collection[str]) -> str | None:
    """Call ``linkcode_resolve`` for a class of the site's own packages, because it may not handle others."""
    resolve: Any = getattr(builder.config, "linkcode_resolve", None)
    if not callable(resolve) or class_.module.partition(".")[0] not in own:
        return None
    try:
        url: str | None = resolve("py", {"module": class_.module, "fullname": class_.name})
    except Exception as error:  # noqa: BLE001  (it may only handle documented objects)
        _log.verbose("model-graph: linkcode_resolve has no link for %s: %r", ".".join(class_), error)
        return None
    return url or None


def find_viewcode_url(builder: StandaloneHTMLBuilder, class_: Definition) -> str | None:
    """Return the relative URL where `sphinx.ext.viewcode` shows a class; None if its module has no page."""
    listed = getattr(builder.env, "_viewcode_modules", {}).get(class_.module)
    if not listed or builder.name == "singlehtml":
        return None
    # only documented names have anchors
    _source, lines_by_name, documented, _name = listed
    if class_.name not in lines_by_name:
        return None
    page = builder.get_relative_uri(builder.current_docname, f"_modules/{class_.module.replace('.', '/')}")
    return f"{page}#{class_.name}" if class_.name in documented else page


def _split_name(class_name: str, source: str | None) -> Definition:
    """Split a class's full name by its source file, or else by capitals, which are rare in module names."""
    file = (source or "").rpartition(":")[0].removesuffix(".py").removesuffix("/__init__")
    module = file.replace("/", ".")
    if module and class_name.startswith(f"{module}."):
        return Definition(module, class_name.removeprefix(f"{module}."))
    parts = class_name.split(".")
    first = len(parts) - 1
    while first > 1 and parts[first - 1].lstrip("_")[:1].isupper():
        first -= 1
    return Definition(".".join(parts[:first]), ".".join(parts[first:]))
