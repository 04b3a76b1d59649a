"""Public models of libraries, named and nothing else, each in a forked child: one import of the library serves all.

Run as a program, ``python -m zoo.class_sweep 40 timm``, in a process that has not run an op yet: a child would hang in
torch if its parent had. It prints one row for every model, in the order in which they end.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import os
import resource
import select
import signal
import sys
import time
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from types import ModuleType

import torch
import transformers
from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.options.options import Call, Limits
from modeldiagrams.resolve import InputsError, record, resolve
from modeldiagrams.resolve.inputs.candidate_search import is_connected
from zoo.apart import import_from_zoo

PROCESSES = 2
PATIENCE = 10
"""How much longer than by its processor time a class may take on a machine that has other things to do."""


@dataclass(frozen=True)
class Row:
    """What became of one class."""

    name: str
    """As the option `model`."""
    result: str
    """``connected``, ``not buildable``, or what there is instead."""
    reason: str = ""
    """Why it is not connected."""
    rule: str = ""
    mode: str = ""
    config: str = "{}"
    """What was assumed to be in it."""
    tries: int = 0
    seconds: float = 0


def names() -> list[str]:
    """``*Model`` and ``*For*`` names, in the order of a digest: any first part of it is a random sample."""
    found = [name for name in dir(transformers) if name.endswith("Model") or "For" in name]
    return _shuffled(f"transformers.{name}" for name in found if not name.startswith("Auto"))


def names_of_timm() -> list[str]:
    """All classes that `timm` exports, and one factory of each of its modules, one after the other."""
    models = import_from_zoo("timm").models
    factories = [_shuffled(models.list_models(module=module))[:1] for module in models.list_modules()]
    return _in_turn(_classes(models), _shuffled(f"timm.models.{name}" for names in factories for name in names))


def names_of_torchvision() -> list[str]:
    """All classes and factories that `torchvision` exports, one after the other."""
    models = import_from_zoo("torchvision").models
    rest = [models.segmentation, models.detection, models.video, models.optical_flow, models.quantization]
    classes = {path for module in (models, *rest) for path in _classes(module)}
    makers = {models.get_model_builder(name): name for name in models.list_models()}
    factories = (
        f"{module.__name__}.{name}"
        for module in (models, *rest)
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value in makers
    )
    return _in_turn(_shuffled(classes), _shuffled(factories))


def _classes(module: ModuleType) -> list[str]:
    """Classes of models that a package exports."""
    return _shuffled(
        f"{module.__name__}.{name}"
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, nn.Module)
        and value.__module__.startswith(f"{module.__name__}.")
        and value.forward is not nn.Module.forward
        and not name.startswith("_")
    )


def _shuffled(found: Iterable[str]) -> list[str]:
    return sorted(found, key=lambda name: hashlib.blake2b(name.rpartition(".")[2].encode()).digest())


def _in_turn(*lists: list[str]) -> list[str]:
    return [name for names in itertools.zip_longest(*lists) for name in names if name]


NAMES = {"transformers": names, "timm": names_of_timm, "torchvision": names_of_torchvision}
"""Library → its models."""


def is_model(name: str) -> bool:
    """Whether it is a factory, or a concrete class: base classes have no forward of their own.

    A class of `transformers` also has a configuration.
    """
    if not name.startswith("transformers."):
        return True
    try:
        found = getattr(transformers, name.partition(".")[2])
    except (ImportError, RuntimeError):
        return False
    is_class = inspect.isclass(found) and issubclass(found, nn.Module) and bool(getattr(found, "config_class", None))
    return is_class and found.forward is not nn.Module.forward


def row_of(name: str) -> Row | None:
    """What becomes of a class; None where there is none."""
    if not is_model(name):
        return None
    try:
        target = resolve(Call(model=name))
    except InputsError as error:
        return Row(name, "no inputs", _line(str(error)))
    except TargetError as error:
        return Row(name, "not buildable", _line(str(error).partition(" raised ")[2] or str(error)))
    graph = record(target).graph
    said = {item.subject: item.value for item in target.assumptions}
    result = "connected" if is_connected(graph) else graph.status.state
    first = target.tried[0].partition("): ")[2] if target.tried else ""
    return Row(
        name,
        result,
        reason="" if result == "connected" else _line(first),
        rule=said.get("rule", ""),
        mode=graph.status.mode or "",
        config=said.get("config", "{}"),
        tries=len(target.tried),
        seconds=round(time.process_time(), 1),
    )


def _line(text: str) -> str:
    return " ".join(text.split())[:110]


def main(most: int, library: str = "transformers") -> None:
    """Print the rows of the first so many names."""
    is_model("transformers.BertModel")  # with what all models import, so that the children find it there
    waiting, running = NAMES[library]()[:most], {}
    while running or waiting:
        while waiting and len(running) < PROCESSES:
            child = _Child(waiting.pop(0))
            running[child.pipe] = child
        ready, _, _ = select.select([*running], [], [], 1)
        for pipe in [*running]:
            row = running[pipe].row(is_ready=pipe in ready)
            if row is not None:
                del running[pipe]
                print(json.dumps(row), flush=True)


class _Child:
    """A process for one class."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._end = time.monotonic() + PATIENCE * Limits().seconds
        self.pipe, write = os.pipe()
        self._id = os.fork()
        if self._id == 0:
            os.close(self.pipe)
            _answer(name, write)
        os.close(write)

    def row(self, *, is_ready: bool) -> dict[str, object] | None:
        """What it says; nothing yet, an empty row, or what ended it."""
        if not is_ready:
            if time.monotonic() < self._end:
                return None
            os.kill(self._id, signal.SIGKILL)
        with os.fdopen(self.pipe, "rb") as file:
            said = file.read()
        _, status = os.waitpid(self._id, 0)
        if said:
            found: dict[str, object] = json.loads(said)
            return found
        number = os.waitstatus_to_exitcode(status)
        is_late = -number in (signal.SIGXCPU, signal.SIGKILL)
        return asdict(Row(self.name, "took too long" if is_late else f"ended with {number}"))


def _answer(name: str, pipe: int) -> None:
    """In the child: write the row, and end."""
    devnull = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(devnull, stream)
    # processor time, because others may use the machine, too
    resource.setrlimit(resource.RLIMIT_CPU, (int(Limits().seconds), int(Limits().seconds) + 1))
    most = int(Limits().gigabytes * 1e9) + 10**9
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    try:
        row = row_of(name)
        said = {} if row is None else asdict(row)
    except BaseException as error:  # noqa: BLE001  (the parent reads it)
        said = asdict(Row(name, "failed", f"{type(error).__name__}: {error}"))
    os.write(pipe, json.dumps(said).encode())
    os._exit(0)


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    main(int(sys.argv[1]), *sys.argv[2:])
