"""One process for many models, and when it is replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphs import small_graph
from modeldiagrams.errors import WorkerError
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.worker import Problem, Refused, Traced, reuse
from option_helpers import make_options

GOOD = Traced(graph=serialize(small_graph()))
BAD = Refused(problem=Problem(kind="model", message="no"))


class Process:
    """Gives the answers that a test sets, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.has_ended = False

    def is_usable(self) -> bool:
        return not self.has_ended

    def trace(self, request):
        self.asked.append(request.call.model)
        return self.answers.pop(0)

    def end(self) -> None:
        self.has_ended = True


@pytest.fixture
def started(monkeypatch) -> list[Process]:
    """All processes."""
    found: list[Process] = []
    monkeypatch.setattr(reuse.Process, "spawn", lambda *_, **__: found.append(Process()) or found[-1])
    return found


@pytest.fixture
def trace(monkeypatch, started):
    """Traces models whose answers are given; name → answers of its attempts."""
    worker = reuse.Reuse()

    def made(name: str, *answers):
        monkeypatch.setattr(Process, "answers", [*answers], raising=False)
        return worker.trace(make_options(model=f"pkg.{name}"))

    made.worker = worker
    yield made
    worker.close()
    assert all(process.has_ended for process in started)


def asked(processes) -> list[list[str]]:
    return [[model.removeprefix("pkg.") for model in process.asked] for process in processes]


def test_one_process_serves_models_that_do_no_harm(trace, started):
    assert [trace(name, GOOD) for name in "ABC"] == [GOOD] * 3
    assert asked(started) == [["A", "B", "C"]]


def test_failure_in_a_used_process_is_tried_again_in_a_new_one(trace, started):
    trace("A", GOOD)
    assert trace("B", BAD, GOOD) == GOOD
    assert asked(started) == [["A", "B"], ["B"]]


def test_failure_in_a_new_process_is_the_models_own(trace, started):
    assert trace("A", BAD) == BAD
    assert asked(started) == [["A"]]


def test_side_effects_end_the_process(trace, started):
    trace("A", Traced(graph=GOOD.graph, has_side_effects=True))
    trace("B", GOOD)
    assert asked(started) == [["A"], ["B"]]


def test_edit_of_a_loaded_file_ends_the_process(trace, started, tmp_path):
    source = tmp_path / "net.py"
    source.touch()
    trace("A", Traced(graph=GOOD.graph, loaded=(str(source),)))
    trace("B", GOOD)
    source.write_text("edited")
    trace("B", GOOD)
    assert asked(started) == [["A", "B"], ["B"]]


def test_dead_process_is_replaced(trace, started):
    trace("A", GOOD)
    started[0].has_ended = True
    trace("B", GOOD)
    assert asked(started) == [["A"], ["B"]]


def test_server_starts_the_next_process_only_after_a_model_has_run(trace, started):
    trace.worker.renew()
    assert not started
    trace("A", GOOD)
    trace.worker.renew()
    trace.worker.renew()
    assert [process.has_ended for process in started] == [True, False]
    trace("B", GOOD)
    assert asked(started) == [["A"], ["B"]]


def test_process_that_does_not_start_is_a_problem_when_a_model_needs_it(trace, monkeypatch):
    def fail(*_, **__):
        raise WorkerError("failed: no such interpreter")

    trace("A", GOOD)
    monkeypatch.setattr(reuse.Process, "spawn", fail)
    trace.worker.renew()
    problem = trace("B").problem
    assert (problem.kind, problem.message) == ("worker", "importing PyTorch failed: no such interpreter")


def test_real_process_serves_two_models_and_survives_neither_harm_nor_death(tmp_path):
    (tmp_path / "models.py").write_text(
        "import os, torch\nfrom torch import nn\nclass Net(nn.Module):\n"
        "    def __init__(self, program):\n        super().__init__()\n        exec(program)\n"
        "    def forward(self, x):\n        return x + 1\n"
    )
    with reuse.Reuse() as worker:

        def run(program=""):
            return worker.trace(make_options(model="models.Net", args=[program], inputs=[1, 4]), [Path(tmp_path)])

        first = run("print(os.getpid())")
        second = run("print(os.getpid()); torch.add = torch.mul")
        third = run("print(os.getpid())")
        assert run("os._exit(3)").problem.message == "tracing models.Net ended the tracing process with exit status 3"
    assert first.output == second.output != third.output
    assert first.graph == third.graph
