"""Prints messages of commands on stderr, and sets their exit status."""

from __future__ import annotations

import itertools
import sys
import threading
import time
import traceback
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modeldiagrams.engine.problems import Problem, format_problem, make_forward_problem
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.ir.text import readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.ir.graph import Graph

__all__ = ["PARTIAL", "STDIO", "CommandError", "echo", "exit_if_partial", "report", "report_errors", "show_progress"]

PARTIAL = 1
_FAILURE = 2
_INTERRUPTED = 130
STDIO = Path("-")
"""Means stdin or stdout."""
_EVERY = 30
"""Seconds between two progress messages in a log."""
_COUNTED: dict[type, str] = {ModuleNode: "module", OpNode: "op"}


class CommandError(click.ClickException):
    """A failed command, with a message of one paragraph."""

    exit_code = _FAILURE

    def __init__(self, problem: Problem | Exception | str) -> None:
        super().__init__(format_problem(problem) if isinstance(problem, Problem) else readable(str(problem)))


def echo(text: object, *, err: bool = False) -> None:
    """Print text that may contain names and values of a model."""
    click.echo(readable(str(text)), err=err)


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn exceptions into one paragraph and an exit status."""
    try:
        yield
    except (click.ClickException, BrokenPipeError):  # click exits quietly if nobody reads the output
        raise
    except (ModelDiagramsError, OSError) as error:
        raise CommandError(error) from error
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except Exception:  # noqa: BLE001  (a bug of ours: print the traceback, and exit differently than for a partial trace)
        traceback.print_exc()
        sys.exit(_FAILURE)


@contextmanager
def show_progress(doing: str) -> Iterator[None]:
    """Show what a command is doing and for how long: on a terminal in one line, in a log now and then."""
    done = threading.Event()
    show = _update_terminal if sys.stderr.isatty() else _append_to_log
    thread = threading.Thread(target=show, args=(doing, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _update_terminal(doing: str, done: threading.Event) -> None:
    text = f"{doing} …"
    click.echo(text, nl=False, err=True)
    for seconds in itertools.count(1):
        if done.wait(1):
            break
        text = f"{doing} … {seconds} s"
        click.echo(f"\r{text}", nl=False, err=True)
    click.echo(f"\r{' ' * len(text)}\r", nl=False, err=True)


def _append_to_log(doing: str, done: threading.Event) -> None:
    if done.wait(1):  # not worth a line
        return
    click.echo(f"{doing} …", err=True)
    for count in itertools.count(1):
        if done.wait(_EVERY):
            return
        click.echo(f"{doing} … {count * _EVERY} s", err=True)


@contextmanager
def report(output: Path | None) -> Iterator[Callable[..., None]]:
    """Check that the output can be written, and yield a function that reports on stderr what was written.

    A missing folder is more likely a typo than wanted.
    """
    start = time.monotonic()
    folder = output.absolute().parent if output else Path()
    if not folder.is_dir():
        raise CommandError(f"{output} can't be written: there is no folder {folder}")

    def say(graph: Graph, path: Path | None = output) -> None:
        if path != STDIO:
            found = Counter(_COUNTED.get(type(node)) for node in graph.nodes)
            counts = ", ".join(f"{found[noun]} {noun}{'s'[: found[noun] != 1]}" for noun in _COUNTED.values())
            click.echo(f"{path}: {counts}, {time.monotonic() - start:.1f} s", err=True)

    yield say


def exit_if_partial(target: str, graph: Graph) -> None:
    """Warn and exit with status 1 if a graph is incomplete."""
    problem = make_forward_problem(target, graph)
    if problem:
        echo(f"Warning: {format_problem(problem)}", err=True)
        sys.exit(PARTIAL)
