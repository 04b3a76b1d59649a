"""Constructor arguments by how they are used while ``__init__`` runs on the meta device (rule 3).

Every required parameter becomes a `Slot`, first taken for a number. A run of the constructor with values that watch
their use (`unknown`) shows what each one is: what it can't be ends the run, and the next one starts with what was
learnt. Any other error is answered by another value for one of the arguments that it is about (`blame`). When a run
succeeds, the layers that hold an argument tell its role, and so a usual value (`vocabulary.toml`). What is found is
plain data as an author would write it, and the model is made of that.
"""

from __future__ import annotations

import inspect
import math
import re
import time
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.target.allocations import Allocations, TooLargeError
from modeldiagrams.target.forward import parameters_of
from modeldiagrams.target.inference.annotations import annotations_of
from modeldiagrams.target.inference.blame import blamed, forward_uses, names_left_open, refusal
from modeldiagrams.target.inference.conventions import required_parameters
from modeldiagrams.target.inference.guard import guarded
from modeldiagrams.target.inference.lessons import learn
from modeldiagrams.target.inference.makers import path_of
from modeldiagrams.target.inference.slots import Slot
from modeldiagrams.target.inference.unknown import Refused, Use, plain, slots_of
from modeldiagrams.target.inference.unknown_containers import PlainData
from modeldiagrams.target.inference.vocabulary import is_a_width, is_listed
from modeldiagrams.target.inference.weights import replaced_weights
from modeldiagrams.target.objects import from_option
from modeldiagrams.target.user_code import seeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from modeldiagrams.target.inference.misfits import Misfit

__all__ = ["Solved", "solved_arguments"]

_MOST_RUNS = 60
_MOST_LESSONS = 60
"""Runs that end because an argument is of another kind; each makes one kind certain."""
_MOST_CHANGES = 3
"""Arguments that differ from their likeliest value."""
_MOST_OPTIONS = 9
_MOST_OTHERS = 2
_FEW = 4
_WIDTH = 32
_CPU_SECONDS = 4.0
_SECONDS = 40.0
"""After them no other run begins. A constructor that waits uses no CPU, and a busy machine is no reason to stop."""
_MOST_ELEMENTS = 100_000_000
"""Of all tensors of a constructor that needs values."""
_NEEDS_VALUES = re.compile(r"meta (tensor|device)|on meta", re.IGNORECASE)

Choices = tuple[tuple[str, int], ...]
"""Path of an argument → which of its options is tried."""


@dataclass(frozen=True)
class Solved:
    """Arguments with which the constructor runs."""

    kwargs: dict[str, Any]
    """As the option `kwargs`."""
    reasons: dict[str, str]
    """Parameter → why it is what it is."""
    tries: int
    others: tuple[dict[str, Any], ...] = ()
    """The same with other modules that were made up: which of them suits is not known before forward runs."""
    search: _Search | None = None
    """Has others for a layer that doesn't fit in forward."""


def solved_arguments(
    found: Callable[..., Any],
    error: str = "",
    given: Mapping[str, Any] | None = None,
    *,
    seconds: float = _CPU_SECONDS,
) -> Solved | None:
    """Find arguments for all required parameters of a class or factory; None if no run succeeds.

    Args:
        found: The class or the factory.
        error: What a call without them raised: it names those that ``**kwargs`` hide.
        given: Arguments that are known, as the option `kwargs`; the others are looked for.
        seconds: Of the processor, after which no other run begins.
    """
    required = required_parameters(found)
    if any(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in required):
        return None
    hidden = re.search(r"missing \d+ required .*arguments?: (.*)", error)
    names = [p.name for p in required] or (re.findall(r"'(\w+)'", hidden[1]) if hidden else [])
    names = names or re.findall(r"KeyError: '([A-Za-z_]\w*)'$", error)
    given = given or {}
    names = [name for name in names if name not in given]
    return _Search(found, names, dict(given), seconds).solved() if names else None


@dataclass
class _Search:
    maker: Callable[..., Any]
    required: list[str]
    given: dict[str, Any] = field(default_factory=dict)
    seconds: float = _CPU_SECONDS
    slots: list[Slot] = field(default_factory=list)
    runs: int = 0
    lessons: int = 0
    pending: list[tuple[int, int, Choices]] = field(default_factory=list)
    """Choices to try: by the number of changes, then in the order in which errors asked for them."""
    seen: set[Choices] = field(default_factory=set)
    model: nn.Module = field(default_factory=nn.Module)
    """The last one that was made."""
    started: tuple[float, float] = field(default_factory=lambda: (time.process_time(), time.monotonic()))

    def __post_init__(self) -> None:
        hints = annotations_of(self.maker)
        written = parameters_of(self.maker)
        configured = getattr(self.maker, "config_class", None)
        for name in self.required:
            annotation = hints.get(name, written[name].annotation if name in written else None)
            if annotation in (None, inspect.Parameter.empty) and is_listed("configurations", name):
                annotation = configured
            known = None if annotation is inspect.Parameter.empty or isinstance(annotation, str) else annotation
            self.slots.append(self._slot(name, known))

    def _slot(self, name: str, annotation: Any) -> Slot:
        function = inspect.unwrap(self.maker.__init__ if inspect.isclass(self.maker) else self.maker)
        return Slot(name, name, getattr(function, "__globals__", {}), annotation=annotation, makers=(self.maker,))

    def solved(self) -> Solved | None:
        """The first arguments that work, with better values where the layers tell."""
        found = self._searched()
        if found is None:
            return None
        found = self._with_optional_keys(found)
        first = self._result()
        before = self._likeliest()
        self._read_layers(found)
        if self._likeliest() != before:  # of other values other multiples are asked for
            for slot in self._all():
                slot.divisors = {1}
        again = self._searched(rounds=4)
        if again is None:
            return first
        self.model = again
        return replace(self._result(), others=(*islice(self._others(), _MOST_OTHERS),), search=self)

    def _with_optional_keys(self, found: nn.Module) -> nn.Module:
        """The model with what its configuration may lack, where it has no weights without."""
        asked = [slot for slot in self._all() if {*slot.asked} - {*slot.children}]
        if not asked or any(True for _ in found.parameters()):
            return found
        for slot in asked:
            learn(Refused(slot, Use("members", (*slot.asked,))))
        more = self._searched()
        if more is not None:
            return more
        for slot in asked:
            slot.children = {key: child for key, child in slot.children.items() if key not in slot.asked}
        return self._searched() or found

    def is_about(self, misfit: Misfit) -> bool:
        """Whether an argument has the size of a layer, or is its class."""
        return any(True for _ in self._sizes_for(misfit)) or any(True for _ in self._makers_of(misfit))

    def fitted(self, misfit: Misfit) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
        """Other arguments for a layer that doesn't fit: as many features as come to it, or one of another class."""
        path = misfit.layers[0][0]
        for slot, size in self._sizes_for(misfit):
            before, slot.one_of = slot.one_of, (size,)
            model = self._searched(rounds=_FEW)
            if model is not None and _size_of(model, misfit) == misfit.got:
                self.model = model
                yield self._result().kwargs, {slot.path.partition(".")[0]: f"so many features come to {path}"}
                return
            slot.one_of = before
        for slot in self._makers_of(misfit):
            chosen = slot.choice
            for slot.choice in range(chosen + 1, min(len(slot.options()), chosen + _FEW)):
                if self._can_be_made():
                    yield self._result().kwargs, {}
            slot.choice = chosen

    def _sizes_for(self, misfit: Misfit) -> Iterator[tuple[Slot, int]]:
        """Arguments that a layer's size is made of, with what they have to be if nothing else of it changes."""
        held = _value_in(self.model, misfit)
        size = _last(plain(held))
        for slot in slots_of(held):
            now = plain(slot.option()) if slot.kind == "number" else None
            if type(now) is int and type(size) is int and now > 0:
                if now * misfit.got % size == 0:
                    yield slot, now * misfit.got // size
                if now + misfit.got - size > 0:
                    yield slot, now + misfit.got - size

    def _makers_of(self, misfit: Misfit) -> Iterator[Slot]:
        """Arguments that are the class of a layer or of a module around it."""
        for _, class_ in misfit.layers:
            for slot in self._all():
                if slot.kind == "class" and slot.option().get("_object_") == path_of(class_):
                    yield slot

    def _others(self) -> Iterator[dict[str, Any]]:
        modules = [slot for slot in self._all() if slot.is_called_in_forward]
        for step in range(1, _MOST_OTHERS + 1):
            for slot in modules:
                chosen, slot.choice = slot.choice, slot.choice + step
                if slot.choice < len(slot.options()) and not self._is_late() and self._can_be_made():
                    yield self._result().kwargs
                slot.choice = chosen

    def _can_be_made(self) -> bool:
        try:
            self._made()
        except (Exception, SystemExit, Refused):  # noqa: BLE001  (whatever the constructor raises)
            return False
        return True

    def _likeliest(self) -> list[Any]:
        """Values that arguments would have if no multiples were asked for."""
        found = []
        for slot in self._all():
            divisors, slot.divisors = slot.divisors, {1}
            found.append(slot.option())
            slot.divisors = divisors
        return found

    def _result(self) -> Solved:
        kwargs = {slot.path: slot.written() for slot in self.slots}
        return Solved(kwargs, {slot.path: _reason(slot) for slot in self.slots}, self.runs + self.lessons)

    def _searched(self, rounds: int = _MOST_RUNS) -> nn.Module | None:
        self.pending, self.seen = [(0, 0, ())], set()
        while self.pending and rounds and self.runs < _MOST_RUNS and not self._is_late():
            rounds -= 1
            self.runs += 1
            self.pending.sort()
            choices = self.pending.pop(0)[2]
            self._choose(choices)
            try:
                return self._run()
            except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever the constructor raises)
                self._plan(choices, error)
        return None

    def _is_late(self) -> bool:
        cpu, wall = self.started
        return time.process_time() - cpu > self.seconds or time.monotonic() - wall > _SECONDS

    def _choose(self, choices: Choices) -> None:
        wanted = dict(choices)
        for slot in self._all():
            slot.choice = wanted.get(slot.path, 0)
        _tell_width(self.slots, _WIDTH)

    def _all(self) -> Iterator[Slot]:
        for slot in self.slots:
            yield from slot.tried()

    def _run(self) -> nn.Module:
        """One run, repeated as long as it teaches of what kind an argument is."""
        while True:
            try:
                model = self._made()
                lessons = chain(forward_uses(model, self._all()), replaced_weights(model, self._all()))
                if not any(self._learn(lesson) for lesson in lessons):
                    return model
            except Refused as refused:
                if not self._learn(refused):
                    raise TargetError(f"{refused.slot.path} can't be used so") from None
            except (Exception, SystemExit) as error:
                lesson = refusal(error, self._all())
                is_taught = lesson is not None and self._learn(lesson)
                if not is_taught and not self._asks_for_another(error):
                    raise

    def _asks_for_another(self, error: BaseException) -> bool:
        """Whether something is missing that ``**kwargs`` may hold; then there is one more argument."""
        known = parameters_of(self.maker).values()
        is_open = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known)
        name = error.args[0] if isinstance(error, KeyError) and error.args else next(names_left_open(error), None)
        if not is_open or not isinstance(name, str) or not name.isidentifier() or name in {*self.required, *self.given}:
            return False
        self.lessons += 1
        self.required.append(name)
        self.slots.append(self._slot(name, None))
        return self.lessons <= _MOST_LESSONS

    def _learn(self, refused: Refused) -> bool:
        self.lessons += 1
        return self.lessons <= _MOST_LESSONS and learn(refused)

    def _made(self) -> nn.Module:
        with seeded(), guarded():
            try:
                with torch.device("meta"), PlainData():
                    made = self._called()
            except (RuntimeError, NotImplementedError) as error:
                if not _NEEDS_VALUES.search(str(error)):
                    raise
                made = self._made_with_memory()
        if not isinstance(made, nn.Module):
            raise TargetError("it made no module")
        return made

    def _made_with_memory(self) -> Any:
        try:
            with Allocations(_MOST_ELEMENTS), PlainData():
                return self._called()
        except TooLargeError:
            raise TargetError("it needs too much memory") from None

    def _called(self) -> Any:
        return self.maker(**from_option(self.given), **{slot.path: slot.value() for slot in self.slots})

    def _plan(self, choices: Choices, error: BaseException) -> None:
        """Queue other values of what the error is about, those that it is most about first."""
        if len(choices) >= _MOST_CHANGES:
            return
        for place, slot in enumerate(blamed(error, self._all())):
            for choice in range(1, min(len(slot.options()), _MOST_OPTIONS)):
                changed = tuple(sorted({**dict(choices), slot.path: choice}.items()))
                if changed not in self.seen:
                    self.seen.add(changed)
                    self.pending.append((len(changed) + place // 2, place + choice, changed))

    def _read_layers(self, model: nn.Module) -> None:
        """Note which attributes of PyTorch's layers hold which argument."""
        for module in model.modules():
            if type(module).__module__.startswith("torch.nn"):
                for attribute, value in vars(module).items():
                    for slot in slots_of(value):
                        slot.attributes.add(attribute)


def _tell_width(slots: Iterable[Slot], usual: int) -> None:
    """Tell modules that are made up how wide those are that they are given beside."""
    slots = [*slots]
    widths = [slot.option() for slot in slots if slot.kind == "number" and is_a_width(slot.name)]
    width = next((width for width in widths if type(width) is int), usual)
    for slot in slots:
        slot.width = width
        _tell_width(slot.parts(), width)


def _value_in(model: nn.Module, misfit: Misfit) -> Any:
    """What the layer of the same path has as its size; None where it has none."""
    try:
        return getattr(model.get_submodule(misfit.layers[0][0]), misfit.attribute, None) if misfit.attribute else None
    except AttributeError:
        return None


def _size_of(model: nn.Module, misfit: Misfit) -> Any:
    return _last(plain(_value_in(model, misfit)))


def _last(value: Any) -> Any:
    return value[-1] if isinstance(value, list | tuple) and value else value


def _reason(slot: Slot) -> str:
    if slot.attributes:
        return f"layers have it as {', '.join(sorted(slot.attributes))}"
    if slot.why:
        return slot.why
    if len(slot.divisors) > 1:
        return f"its constructor asks for a multiple of {math.lcm(*slot.divisors)}"
    strings = [value for value in slot.compared if isinstance(value, str)]
    if slot.kind == "text" and strings:
        return f"it is compared with {', '.join(map(repr, strings[:4]))}"
    if slot.annotation is not None:
        return f"it is annotated as {getattr(slot.annotation, '__name__', slot.annotation)}"
    return "a usual value for this name"
