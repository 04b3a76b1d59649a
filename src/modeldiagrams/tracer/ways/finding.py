"""Makes the ways of a graph from what ran. Imports no torch."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from modeldiagrams.common.class_facts import get_full_name
from modeldiagrams.common.user_files import shorten_path
from modeldiagrams.ir.ways import Side, Way
from modeldiagrams.tracer.ways.expressions import known_where
from modeldiagrams.tracer.ways.judging import runs_tensors
from modeldiagrams.tracer.ways.observer import make_observer
from modeldiagrams.tracer.ways.scope import NameScope
from modeldiagrams.tracer.ways.syntax import Sources, annotations_of, find_branches, start_of, text_of
from modeldiagrams.tracer.ways.waiting import decide

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import CodeType, FrameType

    from modeldiagrams.ir.ways import QuietSide, WaitsFor
    from modeldiagrams.tracer.ways.observer import Watched
    from modeldiagrams.tracer.ways.scope import Kind
    from modeldiagrams.tracer.ways.syntax import CodeBranch, Option

_READS_VARIABLES = frozenset({"dir", "eval", "exec", "locals", "vars"})
"""Functions whose result may be the dict of a function's variables, which reading these would change."""
_IN_FUNCTION = re.compile(r"(\.<locals>)?\.<(list|set|dict)comp>")
"""The end of the name of a comprehension, which is part of the function from Python 3.12 on."""
_LONGEST = 200
"""Characters of a condition."""


class _Judged(NamedTuple):
    """What is known of a branch since it was reached."""

    options: tuple[Option, ...]
    """The sides that run tensors or modules."""
    quiet: tuple[Option, ...]
    """Those that run none with what the names stand for here, but may run some in another pass."""
    waits_for: WaitsFor
    file: str
    module: str
    """Name of the Python module."""

    def describe(self, branch: CodeBranch) -> tuple[str, str]:
        """``file:line`` and the text of the condition."""
        text = text_of(branch.test, self.file)
        condition = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        return f"{shorten_path(self.file, self.module)}:{start_of(branch.test)[0]}", condition


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
            classify: As `NameScope.classify`.
            running_in: Returns the class of the running module call; None for a function.
        """
        self._is_followed = is_followed
        self._classify = classify
        self._sources = Sources()
        self._judged: dict[CodeBranch, _Judged] = {}
        self.faults: list[str] = []
        """Sentences about our own failures, which must not become the model's."""
        self.observer = make_observer(self._branches_in, self._on_reach, running_in)

    def release(self) -> None:
        """Break reference cycles, like `PassRecord.release`."""
        self.observer = None

    def _branches_in(self, code: CodeType) -> list[CodeBranch]:
        try:
            trees = self._sources.find(code) if self._is_followed(code.co_filename) else []
            return [branch for tree in trees for branch in find_branches(tree)]
        except Exception as error:  # noqa: BLE001 (it would be raised in the model's code)
            self._keep_fault("find the branches of the function", code, code.co_firstlineno, error)
            return []

    def _on_reach(self, branch: CodeBranch, frame: FrameType) -> tuple[Option, ...]:
        try:
            if branch not in self._judged:  # a function that is defined twice has two code objects
                self._judged[branch] = self._judge(branch, frame)
            return self._judged[branch].options
        except Exception as error:  # noqa: BLE001 (it would be raised in the model's code)
            self._keep_fault("judge the branch", frame.f_code, start_of(branch.test)[0], error)
            return ()

    def _keep_fault(self, action: str, code: CodeType, line: int, error: Exception) -> None:
        where = f"{shorten_path(code.co_filename)}:{line}"
        self.faults.append(f"modeldiagrams failed to {action} at {where}: {error!r}; please report this")

    def _judge(self, branch: CodeBranch, frame: FrameType) -> _Judged:
        code = frame.f_code
        n = code.co_argcount + code.co_kwonlyargcount
        n += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
        annotations = annotations_of(branch.function)
        scope = NameScope(_variables_of(frame), frame.f_globals, code.co_varnames[:n], self._classify, annotations)
        able = [option for option in branch.options if option.may_run]
        options = tuple(option for option in able if self._runs(branch, option, scope))
        quiet = tuple(option for option in able if option not in options)
        waits_for = decide(branch, branch.function, scope, self._sources) if options else "other"
        return _Judged(options, quiet, waits_for, code.co_filename, str(frame.f_globals.get("__name__")))

    def _runs(self, branch: CodeBranch, option: Option, scope: NameScope) -> bool:
        is_asked = branch.statement in {"if", "expression", "while"}
        known = known_where(branch.test, scope, holds=option.name == "yes") if is_asked else {}
        return runs_tensors(option.nodes, known, scope, self._sources)

    def list(self) -> tuple[Way, ...]:
        """The ways, by file and line."""
        ran = self._watched()
        found = [
            (_make_way(branch, judged, ran[branch]), branch)
            for branch, judged in self._judged.items()
            if judged.options
        ]
        found.sort(key=lambda one: (one[0].source.rpartition(":")[0], start_of(one[1].test), one[0].statement))
        return tuple(way for way, _ in found)

    def quiet(self) -> frozenset[QuietSide]:
        """The sides that ran, but no tensors or modules in them."""
        ran = self._watched()
        return frozenset(
            (*judged.describe(branch), option.name)
            for branch, judged in self._judged.items()
            for option in judged.quiet
            if any(watched.ran(option) for watched in ran[branch])
        )

    def _watched(self) -> Mapping[CodeBranch, Sequence[Watched]]:
        """What ran of the functions of each branch; of a function that was defined twice, several."""
        found: dict[CodeBranch, list[Watched]] = defaultdict(list)
        for watched in self.observer.watched if self.observer is not None else ():
            for branch in watched.reached:
                found[branch].append(watched)
        return found


def _variables_of(frame: FrameType) -> dict[str, Any]:
    """The variables of a running function; none where reading them could change what the function sees."""
    if not _READS_VARIABLES.isdisjoint(frame.f_code.co_names):
        return {}
    held = frame.f_locals
    variables = dict(held)
    if isinstance(held, dict):  # until Python 3.12; it would keep the values alive as long as the function runs
        held.clear()
    return variables


def _make_way(branch: CodeBranch, judged: _Judged, ran: Sequence[Watched]) -> Way:
    source, condition = judged.describe(branch)
    owners = {owner for watched in ran for owner in watched.owners}
    return Way(
        source=source,
        statement=branch.statement,
        condition=condition,
        waits_for=judged.waits_for,
        function=_IN_FUNCTION.sub("", ran[0].code.co_qualname).replace("<locals>.", ""),
        classes=tuple(sorted({get_full_name(owner) for owner in owners if owner is not None})),
        sides=tuple(
            Side(
                name=option.name,
                line=start_of(option.nodes[0])[0],
                taken=any(watched.ran(option) for watched in ran),
            )
            for option in judged.options
        ),
    )
