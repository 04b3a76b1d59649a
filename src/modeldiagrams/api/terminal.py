"""What commands print on stderr, and how they end."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modeldiagrams.engine.diagram import Problem, forward_problem
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.graph import ModuleNode, OpNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.ir.graph import Graph

__all__ = ["PARTIAL", "STDIO", "Failed", "errors", "exit_if_partial", "progress", "report"]

PARTIAL = 1
_FAILURE = 2
_INTERRUPTED = 130
STDIO = Path("-")
"""Stands for stdin or stdout."""
_COUNTED: dict[type, str] = {ModuleNode: "module", OpNode: "op"}


class Failed(click.ClickException):
    """A failure as one paragraph."""

    exit_code = _FAILURE

    def __init__(self, problem: Problem | Exception) -> None:
        super().__init__(_paragraph(problem) if isinstance(problem, Problem) else str(problem))


def _paragraph(problem: Problem) -> str:
    return "\n  ".join([problem.message, *problem.frames, *problem.remarks])


@contextmanager
def errors() -> Iterator[None]:
    """Turn what goes wrong into one paragraph and an exit status."""
    try:
        yield
    except click.ClickException:
        raise
    except (ModelDiagramsError, OSError) as error:
        raise Failed(error) from error
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except Exception:  # noqa: BLE001  (a bug of ours: print the traceback; the exit status is not that of a partial trace)
        traceback.print_exc()
        sys.exit(_FAILURE)


@contextmanager
def progress(doing: str) -> Iterator[None]:
    """Print what is going on: at once on a terminal, elsewhere only after a second."""
    timer = threading.Timer(0 if sys.stderr.isatty() else 1, click.echo, [f"{doing} …"], {"err": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def report(output: Path | None) -> Iterator[Callable[..., None]]:
    """Check that the output can be written; gives a function that says on stderr what was written.

    Missing folders above the file's own are more likely mistyped than wanted.
    """
    start = time.monotonic()
    folder = output.absolute().parent if output else Path()
    if not folder.parent.exists():
        raise Failed(ModelDiagramsError(f"{output} can't be written: there is no folder {folder.parent}"))

    def say(graph: Graph, path: Path | None = output) -> None:
        if path != STDIO:
            found = Counter(_COUNTED.get(type(node)) for node in graph.nodes)
            counts = ", ".join(f"{found[noun]} {noun}{'s'[: found[noun] != 1]}" for noun in _COUNTED.values())
            click.echo(f"{path}: {counts}, {time.monotonic() - start:.1f} s", err=True)

    yield say


def exit_if_partial(target: str, graph: Graph) -> None:
    """Say what is wrong with a graph, and exit with 1, unless it is complete."""
    problem = forward_problem(target, graph)
    if problem:
        click.echo(f"Warning: {_paragraph(problem)}", err=True)
        sys.exit(PARTIAL)
