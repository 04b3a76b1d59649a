"""Finds the ways of functions without torch, in any Python: prints them as JSON.

Run it as a script: the tests do so in each interpreter that there is.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import importlib
import json
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

SRC = Path(__file__).parents[2] / "src" / "modeldiagrams"


class Tensor:
    """Stands in for a tensor."""

    shape = (2, 3)

    def __init__(self, value: float = 1.0) -> None:
        self.value = value

    def __add__(self, other: Any) -> Tensor:
        return Tensor(self.value + getattr(other, "value", other))

    def __gt__(self, other: float) -> bool:
        return self.value > other

    def relu(self) -> Tensor:
        return Tensor(max(self.value, 0.0))


class Module:
    """Stands in for a module."""

    training = False

    def __call__(self, x: Tensor) -> Tensor:
        return x


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def passing_on(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


class Net(Module):
    def __init__(self) -> None:
        self.proj, self.other, self.scale, self.layers = Module(), None, 2, []

    @passing_on
    def forward(self, x: Tensor, mask: Tensor | None = None, colour: Colour = Colour.RED) -> Any:
        if mask is not None:
            x = x + mask
        if (
            self.training and self.scale > 1  # several lines
        ):
            x = x.relu()
        y = self.proj(x) if self.scale > 1 else self.other(x)
        for layer in self.layers:
            y = layer(y)
        while y > 100:
            y = y.relu()
        match colour:
            case Colour.RED:
                y = y + 1
            case Colour.BLUE:
                y = y.relu()
        parts = [part.relu() if part.shape[0] > 5 else part + 1 for part in (x, y)]
        choose = lambda value: value.relu() if mask is None else value + mask  # noqa: E731
        with self.scope():
            y = choose(y)
            try:
                y = self.early(y)
            finally:
                y = y + 1
        self.exits(y, 0), self.exits(y, 102)
        return parts, sum(self.items(y))

    def scope(self) -> Any:
        return contextlib.nullcontext()

    def items(self, y: Tensor) -> Iterator[int]:
        for _ in range(3):
            if y.shape[1] == 3:
                yield 1
                continue
            y = y.relu()

    def exits(self, y: Tensor, most: int) -> Tensor:
        for _ in range(3):
            y = y + 1
            if y > most:
                return y
        while True:
            y = y + 1
            if y > 0:
                break
        for _ in range(most - 100):
            y = y + 1
            if most == 102:
                break
        return y

    def early(self, y: Tensor) -> Tensor:
        if y > 50:
            return y
        y = y + 1
        if self.other is not None:
            y = self.other(y)
        elif self.scale == 3:
            y = y + 2
        else:
            return y.relu()
        return y + 5


class Side(NamedTuple):
    name: str
    line: int
    taken: bool


class Way(NamedTuple):
    source: str
    statement: str
    condition: str
    waits_for: str
    function: str
    classes: tuple[str, ...]
    sides: tuple[Side, ...]


def load() -> Any:
    """Import `tracer.ways` without the packages around it, which need torch and msgspec."""
    for name in ("", ".tracer", ".ir"):
        package = types.ModuleType(f"modeldiagrams{name}")
        package.__path__ = [str(SRC / name[1:])]
        sys.modules[package.__name__] = package
    sys.modules["modeldiagrams.ir.ways"] = types.ModuleType("modeldiagrams.ir.ways")
    vars(sys.modules["modeldiagrams.ir.ways"]).update(Way=Way, Side=Side)
    return importlib.import_module("modeldiagrams.tracer.ways.finding")


def classify(value: Any) -> str | None:
    return "tensor" if isinstance(value, Tensor) else "module" if isinstance(value, Module) else None


def find(run: Callable[[], object]) -> list[Way]:
    ways = load().Ways(lambda file: file == __file__, classify, lambda: Net)
    if ways.observer is None:
        return []
    with ways.observer.observing():
        run()
    assert not ways.faults, ways.faults
    return list(ways.list())


if __name__ == "__main__":
    net = Net()
    with_tool = sys.argv[1:] == ["tool"]
    if with_tool and sys.version_info >= (3, 12):
        sys.monitoring.use_tool_id(sys.monitoring.COVERAGE_ID, "coverage")
    elif with_tool:
        sys.settrace(lambda *_: None)
    tracer = sys.gettrace()
    found = find(lambda: (net.forward(Tensor()), net.forward(Tensor(2.0))))
    assert sys.gettrace() is tracer
    sys.settrace(None)
    rows = [(w.statement, w.condition, w.waits_for, w.function, {s.name: s.taken for s in w.sides}) for w in found]
    print(json.dumps(rows))
