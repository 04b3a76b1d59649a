"""How many hand-written models need no option: shares, CPU, memory and tries, by level of ``tests/inference_zoo``.

A model is solved if the pass ends and some output depends on an input; it is true if it is also called with
what a person would choose, which ``tests/zoo/expected.toml`` says of every seventh seen one, and
``tests/zoo/aside_reference.toml`` of those kept aside.

``python -m benchmarks inference`` prints the table; ``python -m benchmarks.inference [-v] [NAME…]`` runs those models
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
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).parents[1] / "tests"))

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.connection import Connection

    from inference_zoo import Entry
    from modeldiagrams.resolve import Target
    from zoo.expected import Shape

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
    """Of a model that is solved: what a person would not call it with, where that is known."""


def main() -> None:
    """Measure all models and print one line for each level."""
    from inference_zoo import LEVELS, entries  # noqa: PLC0415  (with torch, which the other benchmarks don't need)

    outcomes = {entry: measured(entry.path) for entry in entries()}
    print("share of models that are solved without any option")
    for is_aside in (False, True):
        for level in LEVELS:
            of_level = {e.path: o for e, o in outcomes.items() if (e.level, e.is_aside) == (level, is_aside)}
            print(f"{level:7} {'aside' if is_aside else 'seen ':6} {_line([*of_level.values()])}{_truth(of_level)}")


def _truth(outcomes: Mapping[str, Outcome]) -> str:
    """How many are called as a person would call them, of those for which that is written down."""
    known = [not untruths_of(path, outcome) for path, outcome in outcomes.items() if is_known(path)]
    return f"  true: {sum(known)}/{len(known)} = {sum(known) / len(known):4.0%}" if known else ""


def is_known(path: str) -> bool:
    """Whether it is written down what a person would call a model with."""
    from zoo.expected import EXPECTED  # noqa: PLC0415
    from zoo.references import REFERENCES  # noqa: PLC0415

    return path in EXPECTED or path in REFERENCES


def untruths_of(path: str, outcome: Outcome) -> list[str]:
    """What a person would not call a model with; all of it where it is not solved at all.

    Of models kept aside, ranks and kinds of inputs are compared, of others sizes and arguments as well.
    """
    return [*outcome.untruths] if outcome.is_solved or not is_known(path) else ["it is not solved"]


def _line(outcomes: Sequence[Outcome]) -> str:
    solved = sum(outcome.is_solved for outcome in outcomes)
    seconds, tries = sorted(o.seconds for o in outcomes), sorted(o.tries for o in outcomes)
    last = int(0.95 * (len(outcomes) - 1))
    megabytes = max(outcome.megabytes for outcome in outcomes)
    return (
        f"{solved:3}/{len(outcomes):3} = {solved / len(outcomes):4.0%}  CPU s: median {statistics.median(seconds):.2f},"
        f" p95 {seconds[last]:.2f}  tries: median {statistics.median(tries):.0f}, p95 {tries[last]}"
        f"  memory: at most {megabytes:.0f} MB"
    )


def measured(path: str) -> Outcome:
    """Resolve and trace one model in a process of its own, which has imported what it needs, as a worker has."""
    import_module("modeldiagrams.worker.tracing").warm_up()
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(path, theirs), daemon=True)
    process.start()
    theirs.close()  # or the end of a process that dies would not be seen
    try:
        outcome = ours.recv() if ours.poll(_LIMIT) else Outcome(seconds=_LIMIT, text="took too long")
    except EOFError:
        outcome = Outcome(text="the process died")
    process.kill()
    process.join()
    return outcome


def _measure(path: str, result: Connection) -> None:
    from modeldiagrams.errors import TargetError  # noqa: PLC0415
    from modeldiagrams.options.parsing import parse_options  # noqa: PLC0415
    from modeldiagrams.resolve import record, resolve  # noqa: PLC0415
    from modeldiagrams.resolve.inputs.candidate_search import is_connected  # noqa: PLC0415

    warnings.simplefilter("ignore")
    call = parse_options({"model": path}).call
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
    untruths = tuple(_untruths(path, _call(path, target))) if is_solved else ()
    result.send(Outcome(is_solved, seconds, len(target.tried), megabytes, text, untruths))


def _untruths(path: str, call: Shape) -> list[str]:
    """In the model's process, because what uses PyTorch's threads can't be forked."""
    from zoo.expected import EXPECTED, untruths  # noqa: PLC0415
    from zoo.references import REFERENCES, unlike  # noqa: PLC0415

    if path in EXPECTED:
        return untruths(EXPECTED[path], call)
    return unlike(path, call) if path in REFERENCES else []


def _call(path: str, target: Target) -> Shape:
    """What a model was made and called with: what was assumed, and defaults."""
    import yaml  # noqa: PLC0415

    from modeldiagrams.resolve.code.forward import parameters_of  # noqa: PLC0415
    from modeldiagrams.resolve.values.locate import locate  # noqa: PLC0415
    from zoo.expected import shape_of_call  # noqa: PLC0415

    arguments = {p.name: p.default for p in parameters_of(locate(path)).values() if p.default is not p.empty}
    for each in target.assumptions:
        kind, _, name = each.subject.partition(".")
        if kind == "kwargs":
            arguments[name] = yaml.safe_load(each.value)
    return shape_of_call(target.model.forward, target.args, target.kwargs, arguments)


def _peak() -> float:
    """Most megabytes that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _verbose(names: Sequence[str]) -> None:
    from inference_zoo import entries  # noqa: PLC0415

    for entry in entries():
        if _is_named(entry, names):
            outcome = measured(entry.path)
            mark = "ok  " if outcome.is_solved else "FAIL"
            cost = f"{outcome.seconds:.1f}s {outcome.megabytes:.0f}MB {outcome.tries} tries"
            print(f"{mark} {entry.path} {cost}: {outcome.text}", flush=True)
            if is_known(entry.path) and outcome.is_solved:
                print(f"     {'; '.join(untruths_of(entry.path, outcome)) or 'as a person would call it'}", flush=True)


def _is_named(entry: Entry, names: Sequence[str]) -> bool:
    return any(name in entry.path for name in names) if names else not entry.is_aside


if __name__ == "__main__":
    if "-v" in sys.argv:
        _verbose([name for name in sys.argv[1:] if name != "-v"])
    else:
        main()
