"""What the command `readme` does for several files: their graphs, and what is written and removed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from modeldiagrams.api.graph_files import load_graph_file
from modeldiagrams.api.target_file import import_path
from modeldiagrams.common.files import write_atomically
from modeldiagrams.engine.single_trace import TracedModel, trace_once
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options.options import is_graph_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from modeldiagrams.api.readme.update import ReadmeUpdate
    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.options import Options

__all__ = ["get_graph", "list_dropped", "write_updates"]


def list_dropped(updates: Mapping[Path, ReadmeUpdate]) -> list[Path]:
    """List the pictures that no README shows any longer: neither the given ones, nor others beside them."""
    kept = {path for update in updates.values() for path in update.shown}
    found = {path for update in updates.values() for path in update.dropped if path.is_file()} - kept
    others = {other for file in updates for other in file.parent.glob("*.md")} - updates.keys()
    texts = [other.read_text("utf-8", errors="replace") for other in others] if found else []
    return sorted(path for path in found if not any(quote(path.name) in text for text in texts))


def write_updates(updates: Iterable[ReadmeUpdate], dropped: Sequence[Path]) -> Iterator[str]:
    """Write and remove files; yield what was done, a line for each."""
    for path, content in (item for update in updates for item in update.files.items()):
        write_atomically(path, content)
        yield f"{path}: written"
    for path in dropped:
        path.unlink()
        yield f"{path}: removed"


def get_graph(readme: Path, graphs: dict[str, Graph], options: Options) -> Graph:
    """Read a graph file, or trace a model, equal ones once."""
    model = options.call.model
    is_file = is_graph_file(model)
    key = os.path.relpath(readme.parent / model) if is_file else f"{options.call!r} {options.limits!r}"
    if key not in graphs:
        if is_file:
            graphs[key] = load_graph_file(Path(key))
        else:
            name, folders = import_path(model, Path.cwd())
            found = trace_once(options.called(name), folders)
            if not isinstance(found, TracedModel):
                raise ModelDiagramsError(found.message)
            graphs[key] = found.graph
    return graphs[key]
