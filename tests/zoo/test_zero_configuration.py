"""`transformers`' model classes, named and nothing else: how many give a connected data-flow diagram? Slow: `make zoo`.

There are more classes than an afternoon has minutes, so they are taken in the order of a digest of their names, which
is a random sample that is the same every time, until the time is over.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
import transformers
from torch import nn

from modeldiagrams.errors import WorkerError
from modeldiagrams.options import parse_options
from modeldiagrams.serialize import deserialize
from modeldiagrams.target.search import is_connected
from modeldiagrams.worker import Refused, Worker

pytestmark = [pytest.mark.zoo, pytest.mark.filterwarnings("ignore")]

MINUTES = float(os.environ.get("MODELDIAGRAMS_ZOO_MINUTES", "30"))
"""For all classes."""
SECONDS = 90
"""For one class."""
PROCESSES = 2
ENOUGH = 30
"""Classes that must have been tried for the share to mean something."""
SHARE = 0.9


@dataclass(frozen=True)
class Row:
    """What became of one class."""

    name: str
    rule: str
    mode: str
    result: str

    @property
    def is_buildable(self) -> bool:
        """Whether its default configuration makes a model here: some need packages that are not installed."""
        return self.result != "not buildable"


def classes() -> list[str]:
    """Concrete ``*Model`` and ``*For*`` classes with a configuration."""
    found = []
    for name in dir(transformers):
        if not (name.endswith("Model") or "For" in name) or name.startswith("Auto"):
            continue
        try:
            class_ = getattr(transformers, name)
        except (ImportError, RuntimeError):
            continue
        is_model = inspect.isclass(class_) and issubclass(class_, nn.Module) and getattr(class_, "config_class", None)
        # base classes have no forward of their own
        if is_model and class_.forward is not nn.Module.forward:
            found.append(name)
    return sorted(found, key=lambda name: hashlib.blake2b(name.encode()).digest())


def row_of(worker: Worker, name: str) -> Row:
    try:
        answer = worker.trace(parse_options({"model": f"transformers.{name}", "timeout": SECONDS}))
    except WorkerError as error:
        return Row(name, "", "", str(error).splitlines()[0][:80])
    if isinstance(answer, Refused):
        result = "not buildable" if answer.problem.kind == "model" else answer.problem.message[:80]
        too_slow = "longer than" in answer.problem.message
        return Row(name, "", "", "took too long" if too_slow else result)
    graph = deserialize(answer.graph)
    rules = [item.value for item in graph.assumptions if item.subject == "rule"]
    result = "connected" if is_connected(graph) else graph.status.state
    return Row(name, rules[-1] if rules else "", graph.status.mode or "", result)


def sweep() -> list[Row]:
    """Rows of as many classes as the time allows."""
    end = time.monotonic() + 60 * MINUTES
    local, workers = threading.local(), []

    def run(name: str) -> Row | None:
        if time.monotonic() > end:
            return None
        if not hasattr(local, "worker"):
            local.worker = Worker()
            workers.append(local.worker)
        return row_of(local.worker, name)

    try:
        with ThreadPoolExecutor(PROCESSES) as pool:
            return [row for row in pool.map(run, classes()) if row]
    finally:
        for worker in workers:
            worker.close()


def test_nine_of_ten_classes_of_transformers_need_no_option(capsys):
    rows = sweep()
    built = [row for row in rows if row.is_buildable]
    connected = [row for row in built if row.result == "connected"]
    with capsys.disabled():
        print()
        for row in rows:
            print(f"{row.name:55}{row.rule:28}{row.mode:6}{row.result}")
        print(
            f"\n{len(connected)} of {len(built)} connected; {len(rows) - len(built)} not buildable; of {len(classes())}"
        )
        print(Counter((row.rule, row.mode) for row in connected))
    assert len(built) >= ENOUGH
    assert len(connected) / len(built) >= SHARE
