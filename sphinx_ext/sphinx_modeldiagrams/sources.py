"""Where the source of a model's classes is shown, for classes that are documented nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.util import logging

from modeldiagrams.graph import ModuleNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.builders.html import StandaloneHTMLBuilder
    from sphinx.config import Config

    from modeldiagrams.diagrams import Diagram

__all__ = ["linkcode_urls", "viewcode_url"]

_log = logging.getLogger(__name__)


def linkcode_urls(config: Config, diagram: Diagram) -> dict[str, str]:
    """URLs that ``linkcode_resolve`` has for the site's own classes; others' it was not written for.

    Args:
        config: Of the site.
        diagram: Just made, so that it knows its sources.

    Returns:
        Class → URL.
    """
    resolve: Any = getattr(config, "linkcode_resolve", None)
    if not callable(resolve):
        return {}
    found = {}
    for class_name in _own_classes(diagram):
        module, _, name = class_name.rpartition(".")
        try:
            url = resolve("py", {"module": module, "fullname": name})
        except Exception as error:  # noqa: BLE001  (it may know documented objects only, and this is none)
            _log.verbose("model-graph: linkcode_resolve has no link for %s: %r", class_name, error)
            continue
        if url:
            found[class_name] = url
    return found


def viewcode_url(builder: StandaloneHTMLBuilder, class_name: str) -> str | None:
    """The page that `sphinx.ext.viewcode` makes of a class's module, if it does; relative to the current page."""
    module, _, name = class_name.rpartition(".")
    listed = getattr(builder.env, "_viewcode_modules", {}).get(module)
    # source, and places of the names in it; lines of its page have anchors only where they are documented
    if not listed or name not in listed[1] or builder.name == "singlehtml":
        return None
    return builder.get_relative_uri(builder.current_docname, f"_modules/{module.replace('.', '/')}")


def _own_classes(diagram: Diagram) -> Iterator[str]:
    """Classes of modules whose source is not an installed package's."""
    files = [Path(file).as_posix() for file in diagram.sources]
    seen = set()
    for node in diagram.graph.nodes if diagram.graph else ():
        if isinstance(node, ModuleNode) and node.source and node.class_ not in seen:
            seen.add(node.class_)
            path = node.source.rpartition(":")[0]
            if any(file.endswith(f"/{path}") for file in files):
                yield node.class_
