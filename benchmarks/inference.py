"""How many hand-written models need no option: shares, CPU, memory and tries, by group of ``tests/inference_zoo``.

A model is solved if the pass ends and some output depends on an input; it is true if it is also called with
what a person would choose, which ``tests/inference_zoo/expected.toml`` says.

``python -m benchmarks inference`` prints the table; ``python -m benchmarks.inference -v [NAME…]`` runs those models
whose path contains a name, and says for each what was found or why not.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import sys
import time
import warnings
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).parents[1] / "tests"))

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

    from inference_zoo import Entry

_LIMIT = 300
"""Seconds for one model, also on a busy machine: searches end by themselves, but a model may hang."""


@dataclass(frozen=True)
class Outcome:
    """What became of one model."""

    is_solved: bool = False
    seconds: float = 0
    tries: int = 0
    megabytes: float = 0
    """What the process grew by at most."""
    text: str = ""
    """The options that were found, or what is wrong."""
    untruths: tuple[str, ...] = ()
    """Of a model that is solved: what a person would not call it with."""


def main() -> None:
    """Measure all models and print one line for each group."""
    print("share of models that are solved without any option")
    for group, entries in groupby(_entries(), key=lambda entry: entry.group):
        print(f"{group:16} {_line([measured(entry) for entry in entries])}")


def _entries() -> list[Entry]:
    from inference_zoo import ONLY_MODULES, entries  # noqa: PLC0415  (with torch, which other benchmarks don't need)

    return [entry for entry in entries() if entry.expected != ONLY_MODULES]


def _line(outcomes: Sequence[Outcome]) -> str:
    solved = sum(outcome.is_solved for outcome in outcomes)
    true = sum(outcome.is_solved and not outcome.untruths for outcome in outcomes)
    seconds, tries = [o.seconds for o in outcomes], [o.tries for o in outcomes]
    return (
        f"{solved:3}/{len(outcomes):3} = {solved / len(outcomes):4.0%}  true: {true / len(outcomes):4.0%}"
        f"  CPU s: median {statistics.median(seconds):.2f}, most {max(seconds):.2f}"
        f"  tries: median {statistics.median(tries):.0f}, most {max(tries)}"
        f"  memory: at most {max(outcome.megabytes for outcome in outcomes):.0f} MB"
    )


def measured(entry: Entry) -> Outcome:
    """Resolve and trace one model in a process of its own, which has imported what it needs, as a worker has."""
    import_module("modeldiagrams.worker.tracing").warm_up()
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(entry, theirs), daemon=True)
    process.start()
    theirs.close()  # or the end of a process that dies would not be seen
    try:
        outcome = ours.recv() if ours.poll(_LIMIT) else Outcome(seconds=_LIMIT, text="took too long")
    except EOFError:
        outcome = Outcome(text="the process died")
    process.kill()
    process.join()
    return outcome


def _measure(entry: Entry, result: Connection) -> None:
    from inference_zoo.expected import call_of, untruths  # noqa: PLC0415
    from modeldiagrams.errors import TargetError  # noqa: PLC0415
    from modeldiagrams.options.parsing import parse_options  # noqa: PLC0415
    from modeldiagrams.resolve import record, resolve  # noqa: PLC0415
    from modeldiagrams.resolve.inputs.candidate_search import is_connected  # noqa: PLC0415

    warnings.simplefilter("ignore")
    call = parse_options({"model": entry.path, **entry.options}).call
    start, before = time.process_time(), _peak()
    try:
        target = resolve(call)
        graph = record(target).graph
    except TargetError as error:
        result.send(Outcome(seconds=time.process_time() - start, megabytes=_peak() - before, text=str(error)))
        return
    is_solved = graph.status.state == "complete" and is_connected(graph)
    text = (
        "; ".join(f"{a.subject} = {a.value}" for a in target.assumptions)
        if is_solved
        else "\n    ".join(target.tried[-4:] or [str(target.note)])
    )
    seconds, megabytes = time.process_time() - start, _peak() - before
    wrong = tuple(untruths(entry.expected, call_of(entry, target))) if is_solved else ()
    result.send(Outcome(is_solved, seconds, len(target.tried), megabytes, text, wrong))


def _peak() -> float:
    """Most megabytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _verbose(names: Sequence[str]) -> None:
    for entry in _entries():
        if not names or any(name in entry.path for name in names):
            outcome = measured(entry)
            mark = "ok  " if outcome.is_solved else "FAIL"
            cost = f"{outcome.seconds:.1f}s {outcome.megabytes:.0f}MB {outcome.tries} tries"
            print(f"{mark} {entry.path} {cost}: {outcome.text}", flush=True)
            print(f"     {'; '.join(outcome.untruths) or 'as a person would call it'}", flush=True)


if __name__ == "__main__":
    if "-v" in sys.argv:
        _verbose([name for name in sys.argv[1:] if name != "-v"])
    else:
        main()
