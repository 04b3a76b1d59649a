"""What changed in all models of a documentation since another version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.engine.compare.sides import relative
from modeldiagrams.errors import ModelDiagramsError

if TYPE_CHECKING:
    from modeldiagrams.engine.compare.check import Check
    from modeldiagrams.hosting.host import Host

__all__ = ["all_changes"]


def all_changes(host: Host, text: str) -> Check:
    """Read what an author wrote, and compare.

    Args:
        host: The documentation tool.
        text: ``since v1.2``; the first word may be missing.

    Raises:
        ModelDiagramsError: that says what is wrong, beginning with the name of the directive.
    """
    words = text.split()
    version = words[1:] if words[:1] == ["since"] else words
    if len(version) != 1:
        raise ModelDiagramsError(
            f"model-changes: expected a revision, an address or a folder (`since v1.2`), got {text!r}"
        )
    try:
        return host.builder.changes_since(version[0])
    except ModelDiagramsError as error:
        raise ModelDiagramsError(f"model-changes: {relative(error, host.builder.folder)}") from error
