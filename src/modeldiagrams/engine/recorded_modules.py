"""Builds a graph without data flow from the modules of a recording, if its model can't be traced here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldiagrams.common.version import read_version
from modeldiagrams.errors import RecordingError
from modeldiagrams.ir.graph import Graph, ModelInfo, ModuleNode, ParameterCount, Provenance, Status
from modeldiagrams.ir.ids import escape_id
from modeldiagrams.watching.reader import load_recording

if TYPE_CHECKING:
    from pathlib import Path


__all__ = ["match_modules"]

_NOTE = "The recording only knows the modules of the model. To see how data flows, name the model: --model."


def match_modules(path: Path) -> Graph:
    """Build a graph of a recording's modules, in the order of their first recorded calls.

    Raises:
        RecordingError: if the file is not a recording, or names no modules.
    """
    recording = load_recording(path)
    classes = {escape_id(path): name for path, name in recording.runs[-1].modules.items()} if recording.runs else {}
    seen = [node for node in recording.nodes if node]
    ids = [*classes, *(node for node in seen if node not in classes)]
    if not ids:
        raise RecordingError(f"{path}: nothing was recorded yet; name the trained model: --model")
    order = {node: place for place, node in enumerate(seen)}
    first = {node: min((order[one] for one in _is_inside(node, seen)), default=len(seen)) for node in ids}
    nodes = [_find_node(node, classes) for node in sorted(ids, key=lambda node: (first[node], node.count(".")))]
    name = recording.model
    return Graph(
        model=ModelInfo(name=name.rpartition(".")[2] or path.stem, class_=name, parameters=_NO_COUNT),
        nodes=tuple(nodes),
        adjacency={},
        hierarchy={node.id: _find_parent(node.id, ids) for node in nodes},
        tensors={},
        parameters={},
        status=Status(state="hierarchy", notes=(_NOTE,)),
        provenance=Provenance(modeldiagrams=read_version()),
    )


_NO_COUNT = ParameterCount(own=0, total=0, trainable=0)


def _is_inside(node: str, seen: list[str]) -> list[str]:
    return [one for one in seen if one == node or one.startswith(f"{node}.")]


def _find_node(node: str, classes: dict[str, str]) -> ModuleNode:
    path, _, call = node.partition("#")
    return ModuleNode(id=node, path=path, class_=classes.get(path, ""), call=int(call or 1), parameters=_NO_COUNT)


def _find_parent(node: str, known: list[str]) -> str | None:
    """Return the nearest known module around a module call, in its first call."""
    path = node.partition("#")[0]
    while (path := path.rpartition(".")[0]) and path not in known:
        pass
    return path or None
