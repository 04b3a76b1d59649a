"""What commands print on stderr, and how they end."""

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

from modeldiagrams.engine.problems import Problem, forward_problem, in_words
from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.ir.graph import ModuleNode, OpNode
from modeldiagrams.ir.text import readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modeldiagrams.ir.graph import Graph

__all__ = ["PARTIAL", "STDIO", "Failed", "echo", "errors", "exit_if_partial", "progress", "report"]

PARTIAL = 1
_FAILURE = 2
_INTERRUPTED = 130
STDIO = Path("-")
"""Stands for stdin or stdout."""
_EVERY = 30
"""Seconds between two lines of a log that say that a command is still running."""
_COUNTED: dict[type, str] = {ModuleNode: "module", OpNode: "op"}


class Failed(click.ClickException):
    """A failure as one paragraph."""

    exit_code = _FAILURE

    def __init__(self, problem: Problem | Exception | str) -> None:
        super().__init__(in_words(problem) if isinstance(problem, Problem) else readable(str(problem)))


def echo(text: object, *, err: bool = False) -> None:
    """Print text that may hold names and values of a model."""
    click.echo(readable(str(text)), err=err)


@contextmanager
def errors() -> Iterator[None]:
    """Turn what goes wrong into one paragraph and an exit status."""
    try:
        yield
    except (click.ClickException, BrokenPipeError):  # click ends quietly where nobody reads what is printed
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
    """Print what is going on and for how long: a line that changes on a terminal, elsewhere one now and then."""
    done = threading.Event()
    tell = _tell_terminal if sys.stderr.isatty() else _tell_log
    thread = threading.Thread(target=tell, args=(doing, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _tell_terminal(doing: str, done: threading.Event) -> None:
    text = f"{doing} …"
    click.echo(text, nl=False, err=True)
    for seconds in itertools.count(1):
        if done.wait(1):
            break
        text = f"{doing} … {seconds} s"
        click.echo(f"\r{text}", nl=False, err=True)
    click.echo(f"\r{' ' * len(text)}\r", nl=False, err=True)


def _tell_log(doing: str, done: threading.Event) -> None:
    """What is over within a second is not worth a line."""
    if done.wait(1):
        return
    click.echo(f"{doing} …", err=True)
    for count in itertools.count(1):
        if done.wait(_EVERY):
            return
        click.echo(f"{doing} … {count * _EVERY} s", err=True)


@contextmanager
def report(output: Path | None) -> Iterator[Callable[..., None]]:
    """Check that the output can be written; gives a function that says on stderr what was written.

    Missing folders above the file's own are more likely mistyped than wanted.
    """
    start = time.monotonic()
    folder = output.absolute().parent if output else Path()
    if not folder.parent.exists():
        raise Failed(f"{output} can't be written: there is no folder {folder.parent}")

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
        echo(f"Warning: {in_words(problem)}", err=True)
        sys.exit(PARTIAL)
