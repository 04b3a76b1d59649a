"""A new process for each model."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphs import small_graph
from modeldiagrams.errors import WorkerError
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.worker import Traced, spawns
from option_helpers import make_options

GOOD = Traced(graph=serialize(small_graph()))


class Process:
    """Notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.has_ended = False

    def is_usable(self) -> bool:
        return not self.has_ended

    def run(self, request):
        self.asked.append(request.call.model)
        return GOOD

    def end(self) -> None:
        self.has_ended = True


@pytest.fixture
def started(monkeypatch) -> list[Process]:
    """All processes."""
    found: list[Process] = []
    monkeypatch.setattr(spawns.Process, "spawn", lambda *_, **__: found.append(Process()) or found[-1])
    return found


@pytest.fixture
def worker(started):
    with spawns.Spawns() as worker:
        yield worker
    assert all(process.has_ended for process in started)


def trace(worker, name: str) -> Traced:
    return worker.trace(make_options(model=name))


def test_every_model_has_its_own_process_which_ends_with_it(worker, started):
    assert [trace(worker, name) for name in ("a.A", "a.B")] == [GOOD] * 2
    assert [process.asked for process in started] == [["a.A"], ["a.B"]]
    assert all(process.has_ended for process in started)


def test_server_starts_the_next_process_only_after_a_model_has_run(worker, started):
    worker.renew()
    assert not started
    trace(worker, "a.A")
    worker.renew()
    worker.renew()
    assert [process.has_ended for process in started] == [True, False]
    trace(worker, "a.B")
    assert [process.asked for process in started] == [["a.A"], ["a.B"]]


def test_dead_process_is_replaced(worker, started):
    trace(worker, "a.A")
    worker.renew()
    started[-1].has_ended = True
    trace(worker, "a.B")
    assert [process.asked for process in started] == [["a.A"], [], ["a.B"]]


def test_process_that_does_not_start_is_a_problem_when_a_model_needs_it(worker, monkeypatch):
    def fail(*_, **__):
        raise WorkerError("failed: no such interpreter")

    trace(worker, "a.A")
    monkeypatch.setattr(spawns.Process, "spawn", fail)
    worker.renew()
    problem = trace(worker, "a.B").problem
    assert (problem.kind, problem.message) == ("worker", "importing PyTorch failed: no such interpreter")


def test_real_models_do_not_affect_one_another(tmp_path):
    (tmp_path / "models.py").write_text(
        "import os, torch\nfrom torch import nn\nclass Net(nn.Module):\n"
        "    def __init__(self, program):\n        super().__init__()\n        exec(program)\n"
        "    def forward(self, x):\n        return x + 1\n"
    )
    with spawns.Spawns() as worker:

        def run(program=""):
            return worker.trace(make_options(model="models.Net", args=[program], inputs=[1, 4]), [Path(tmp_path)])

        first = run("print(os.getpid()); torch.add = torch.mul")
        assert run("os._exit(3)").problem.message == "tracing models.Net ended the tracing process with exit status 3"
        last = run("print(os.getpid())")
    assert first.output != last.output
    assert first.graph == last.graph
