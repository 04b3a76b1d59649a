"""Traces a model once in its own process, for commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from modeldiagrams.engine.loaded_graph import load_graph, read_graph_file
from modeldiagrams.errors import OptionError
from modeldiagrams.record.calls import calls_file, recorded_graph, with_recorded
from modeldiagrams.worker import Refused, Worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modeldiagrams.ir.graph import Graph
    from modeldiagrams.options.options import Options
    from modeldiagrams.worker import Problem

__all__ = ["TracedModel", "trace_once"]


class TracedModel(NamedTuple):
    """The result of a trace."""

    options: Options
    graph: Graph
    tried: tuple[str, ...]
    """The passes of the search for inputs."""


def trace_once(options: Options, folders: Sequence[Path]) -> TracedModel | Problem:
    """Trace a model.

    Args:
        options: The model and its limits.
        folders: To import it from.

    Returns:
        What was found, or why nothing was.

    Raises:
        OptionError: if times are to be measured in a mode in which no op runs for real.
    """
    mode = options.call.mode
    if options.call.measure_time and mode in {"fake", "meta"}:
        raise OptionError("measure_time", f"expected the mode auto or real, as no op runs in the mode {mode}")
    file = calls_file(Path.cwd())
    call = with_recorded(options.call, file)
    if graph := recorded_graph(call, file):
        known = read_graph_file(graph, f"{file.parent.name}/{graph.name}")
        return known.problem if isinstance(known, Refused) else TracedModel(options, known.graph, ())
    with Worker(options.limits.python, gpu=options.limits.uses_gpu) as worker:
        answer = worker.trace(msgspec.structs.replace(options, call=call), folders)
    if isinstance(answer, Refused):
        return answer.problem
    loaded = load_graph(answer, call.model)
    if isinstance(loaded, Refused):
        return loaded.problem
    return TracedModel(options, loaded.graph, answer.tried)
