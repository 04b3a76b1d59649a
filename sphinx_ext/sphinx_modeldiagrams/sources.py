"""Where the source of a model's classes is shown, for classes that are documented nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sphinx.util import logging

if TYPE_CHECKING:
    from collections.abc import Collection

    from sphinx.builders.html import StandaloneHTMLBuilder
    from sphinx.environment import BuildEnvironment

    from sphinx_modeldiagrams.nodes import model_graph

__all__ = ["linkcode_url", "own_packages", "viewcode_url"]

_log = logging.getLogger(__name__)


def own_packages(env: BuildEnvironment, node: model_graph) -> set[str]:
    """Packages that the site is about: those that it documents, installed or not, and those beside it."""
    documented = env.domaindata.get("py", {}).get("objects", {})
    return {*node["packages"], *(name.partition(".")[0] for name in documented)}


def linkcode_url(builder: StandaloneHTMLBuilder, class_name: str, own: Collection[str]) -> str | None:
    """What ``linkcode_resolve`` has for a class of the site's own packages; it was not written for others'."""
    resolve: Any = getattr(builder.config, "linkcode_resolve", None)
    module, name = _split(class_name)
    if not callable(resolve) or module.partition(".")[0] not in own:
        return None
    try:
        url: str | None = resolve("py", {"module": module, "fullname": name})
    except Exception as error:  # noqa: BLE001  (it may know documented objects only, and this is none)
        _log.verbose("model-graph: linkcode_resolve has no link for %s: %r", class_name, error)
        return None
    return url or None


def viewcode_url(builder: StandaloneHTMLBuilder, class_name: str) -> str | None:
    """The place in a page that `sphinx.ext.viewcode` makes of a class's module, if it does; relative to this page."""
    module, name = _split(class_name)
    listed = getattr(builder.env, "_viewcode_modules", {}).get(module)
    if not listed or builder.name == "singlehtml":
        return None
    # source, places of the names in it, and those of them that are documented: only these have anchors
    _, places, documented, _ = listed
    if name not in places:
        return None
    page = builder.get_relative_uri(builder.current_docname, f"_modules/{module.replace('.', '/')}")
    return f"{page}#{name}" if name in documented else page


def _split(class_name: str) -> tuple[str, str]:
    """Module and name in it; classes inside of classes are told by their capitals."""
    parts = class_name.split(".")
    first = len(parts) - 1
    while first > 1 and parts[first - 1].lstrip("_")[:1].isupper():
        first -= 1
    return ".".join(parts[:first]), ".".join(parts[first:])
