"""Reads what authors write for `model-changes` and `model-history`, and compares versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.engine.compare.sides import relative
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.options import is_graph_file

if TYPE_CHECKING:
    from modeldiagrams.engine.compare.documentation import Check
    from modeldiagrams.engine.compare.history import History
    from modeldiagrams.hosting.host_protocol import Host

__all__ = ["read_changes", "read_history"]


def read_changes(host: Host, text: str) -> Check:
    """Compare all models with an earlier version.

    Args:
        host: The documentation tool.
        text: ``since v1.2`` or ``v1.2``.

    Raises:
        ModelDiagramsError: if the text is wrong or a version can't be read; begins with the directive's name.
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


def read_history(host: Host, text: str) -> History:
    """Describe a model in all releases.

    Args:
        host: The documentation tool.
        text: ``mypkg.Model since v1.2``; without ``since``, all releases.

    Raises:
        ModelDiagramsError: if the text is wrong or a version can't be read; begins with the directive's name.
    """
    words = text.split()
    if len(words) not in {1, 3} or words[1:2] not in ([], ["since"]):
        raise ModelDiagramsError(f"model-history: expected a model (`mypkg.Model since v1.2`), got {text!r}")
    model = host.graph_file(words[0]) if is_graph_file(words[0]) else words[0]
    try:
        return host.builder.history(model, words[2] if words[2:] else None)
    except ModelDiagramsError as error:
        raise ModelDiagramsError(f"model-history: {relative(error, host.builder.folder)}") from error
