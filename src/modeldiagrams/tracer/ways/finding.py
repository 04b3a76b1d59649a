"""Makes the ways of a graph from what ran. Imports no torch."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldiagrams.common.class_facts import get_full_name
from modeldiagrams.common.user_files import shorten_path
from modeldiagrams.ir.ways import Side, Way
from modeldiagrams.tracer.ways.judging import known_where, runs_tensors
from modeldiagrams.tracer.ways.observer import make_observer
from modeldiagrams.tracer.ways.scope import Scope
from modeldiagrams.tracer.ways.syntax import Sources, annotations_of, start_of, text_of
from modeldiagrams.tracer.ways.waiting import decide

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from modeldiagrams.ir.ways import QuietSide, WaitsFor
    from modeldiagrams.tracer.ways.observer import Watched
    from modeldiagrams.tracer.ways.scope import Kind
    from modeldiagrams.tracer.ways.syntax import Branch, Option

_READS_VARIABLES = frozenset({"dir", "eval", "exec", "locals", "vars"})
"""Functions whose result may be the dict of a function's variables, which reading these would change."""
_IN_FUNCTION = re.compile(r"(\.<locals>)?\.<(list|set|dict)comp>")
"""The end of the name of a comprehension, which is part of the function from Python 3.12 on."""
_LONGEST = 200
"""Characters of a condition."""


@dataclass(frozen=True)
class _Reached:
    """What is known of a branch since it was reached."""

    options: tuple[Option, ...]
    """The sides that run tensors or modules."""
    quiet: tuple[Option, ...]
    """Those that run none with what the names stand for here, but may run some in another pass."""
    waits_for: WaitsFor
    module: str
    """Name of the Python module."""


class Ways:
    """The ways that one pass reaches."""

    def __init__(
        self,
        is_followed: Callable[[str], bool],
        classify: Callable[[Any], Kind | None],
        running_in: Callable[[], type | None],
    ) -> None:
        """Find ways.

        Args:
            is_followed: Whether the functions of a file count as the model's.
            classify: As `Scope.classify`.
            running_in: Returns the class of the running module call; None for a function.
        """
        self._classify = classify
        self._sources = Sources()
        self._reached: dict[Branch, _Reached] = {}
        self.faults: list[str] = []
        """Sentences about our own failures, which must not become the model's."""
        self.observer = make_observer(is_followed, self._on_reach, running_in, self._sources)

    def release(self) -> None:
        """Break reference cycles, like `PassRecord.release`."""
        self.observer = None

    def _on_reach(self, branch: Branch, frame: FrameType) -> tuple[Option, ...]:
        try:
            reached = self._reached[branch] = self._judge(branch, frame)
        except Exception as error:  # noqa: BLE001 (it would be raised in the model's code)
            module = str(frame.f_globals.get("__name__"))
            where = f"{shorten_path(frame.f_code.co_filename, module)}:{start_of(branch.test)[0]}"
            self.faults.append(f"modeldiagrams failed to judge the branch at {where}: {error!r}; please report this")
            return ()
        return reached.options

    def _judge(self, branch: Branch, frame: FrameType) -> _Reached:
        code = frame.f_code
        tree = branch.function
        variables = _variables_of(frame)
        n = code.co_argcount + code.co_kwonlyargcount
        n += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
        scope = Scope(variables, frame.f_globals, code.co_varnames[:n], self._classify, annotations_of(tree))
        able = [option for option in branch.options if option.may_run]
        options = tuple(option for option in able if self._runs(branch, option, scope))
        quiet = tuple(option for option in able if option not in options)
        waits_for = decide(branch, tree, scope, self._sources) if options else "other"
        return _Reached(options, quiet, waits_for, str(frame.f_globals.get("__name__")))

    def _runs(self, branch: Branch, option: Option, scope: Scope) -> bool:
        is_asked = branch.statement in {"if", "expression", "while"}
        known = known_where(branch.test, scope, holds=option.name == "yes") if is_asked else {}
        return runs_tensors(option.nodes, known, scope, self._sources)

    def list(self) -> tuple[Way, ...]:
        """The ways, by file and line."""
        found: dict[tuple[Any, ...], Way] = {}
        for watched in self.observer.watched if self.observer is not None else ():
            for branch in watched.reached:
                reached = self._reached.get(branch)
                if reached is not None and reached.options:
                    way = _make_way(watched, branch, reached)
                    file, _, line = way.source.rpartition(":")
                    key = file, int(line), start_of(branch.test), branch.statement, way.function
                    found[key] = _merge(found[key], way) if key in found else way
        return tuple(found[key] for key in sorted(found))

    def quiet(self) -> frozenset[QuietSide]:
        """The sides that ran, but no tensors or modules in them."""
        return frozenset(
            (_source_of(watched, branch, reached), _condition_of(watched, branch), option.name)
            for watched in (self.observer.watched if self.observer is not None else ())
            for branch in watched.reached
            if (reached := self._reached.get(branch)) is not None
            for option in reached.quiet
            if watched.ran(option)
        )


def _source_of(watched: Watched, branch: Branch, reached: _Reached) -> str:
    return f"{shorten_path(watched.code.co_filename, reached.module)}:{start_of(branch.test)[0]}"


def _condition_of(watched: Watched, branch: Branch) -> str:
    condition = text_of(branch.test, watched.code.co_filename)
    return condition if len(condition) <= _LONGEST else f"{condition[: _LONGEST - 1]}…"


def _variables_of(frame: FrameType) -> dict[str, Any]:
    """The variables of a running function; none where reading them could change what the function sees."""
    if not _READS_VARIABLES.isdisjoint(frame.f_code.co_names):
        return {}
    held = frame.f_locals
    variables = dict(held)
    if isinstance(held, dict):  # until Python 3.12; it would keep the values alive as long as the function runs
        held.clear()
    return variables


def _make_way(watched: Watched, branch: Branch, reached: _Reached) -> Way:
    return Way(
        source=_source_of(watched, branch, reached),
        statement=branch.statement,
        condition=_condition_of(watched, branch),
        waits_for=reached.waits_for,
        function=_IN_FUNCTION.sub("", watched.code.co_qualname).replace("<locals>.", ""),
        classes=tuple(sorted({get_full_name(owner) for owner in watched.owners if owner is not None})),
        sides=tuple(
            Side(name=option.name, line=start_of(option.nodes[0])[0], taken=watched.ran(option))
            for option in reached.options
        ),
    )


def _merge(one: Way, other: Way) -> Way:
    """Unite what two code objects of the same source ran, as of a function that was defined twice."""
    taken = {side.name for side in (*one.sides, *other.sides) if side.taken}
    sides = {(side.line, side.name): side for side in (*one.sides, *other.sides)}
    return Way(
        source=one.source,
        statement=one.statement,
        condition=one.condition,
        waits_for=one.waits_for,
        function=one.function,
        classes=tuple(sorted({*one.classes, *other.classes})),
        sides=tuple(Side(name=name, line=line, taken=name in taken) for line, name in sorted(sides)),
    )
