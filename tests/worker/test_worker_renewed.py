"""The tracing process that gets ready ahead of time, while a documentation server waits for edits."""

from __future__ import annotations

import threading

import pytest

from modeldiagrams import worker as module
from modeldiagrams.errors import WorkerError
from modeldiagrams.worker import Problem, Refused, Worker
from modeldiagrams.worker.protocol import Prepare, Ready
from option_helpers import make_options

MODEL = make_options(model="pkg.Net")


class Process:
    """Answers as a tracing process does, and notes what it was asked."""

    def __init__(self, *_, **__) -> None:
        self.asked: list[type] = []
        self.threads: list[threading.Thread] = []
        self.output = ""
        self.has_ended = False

    def is_usable(self) -> bool:
        return not self.has_ended

    def ask(self, request, *_):
        self.asked.append(type(request))
        self.threads.append(threading.current_thread())
        return Ready() if isinstance(request, Prepare) else Refused(problem=Problem(kind="model", message="no"))

    def end(self) -> None:
        self.has_ended = True


@pytest.fixture
def processes(monkeypatch) -> list[Process]:
    """All that were started."""
    started: list[Process] = []
    monkeypatch.setattr(module, "Process", lambda *_, **__: started.append(Process()) or started[-1])
    return started


def test_next_process_imports_pytorch_before_it_is_needed(processes):
    with Worker() as worker:
        worker.trace(MODEL)
        worker.renew()
        worker.trace(MODEL)
    assert [process.asked[0] for process in processes] == [Prepare, Prepare]
    assert [process.threads[0] is threading.main_thread() for process in processes] == [True, False]
    assert [len(process.asked) for process in processes] == [2, 3], "the one that got ready is the one that traces"
    assert all(process.has_ended for process in processes)


def test_ready_process_stays_until_it_has_run_a_model(processes):
    with Worker() as worker:
        worker.renew()
        assert not processes
        worker.trace(MODEL)
        for _ in range(3):
            worker.renew()
    assert len(processes) == 2


def test_unused_process_ends_with_its_worker(processes):
    worker = Worker()
    worker.trace(MODEL)
    worker.renew()
    worker.close()
    assert [process.has_ended for process in processes] == [True, True]
    assert not [thread for thread in threading.enumerate() if thread is processes[1].threads[0]]


def test_close_does_not_wait_for_a_process_in_preparation(processes, monkeypatch):
    killed = threading.Event()
    is_asked = threading.Event()

    def import_for_ever(*_):
        is_asked.set()
        assert killed.wait(60)
        raise WorkerError("ended the tracing process by signal SIGKILL")

    worker = Worker()
    worker.trace(MODEL)
    monkeypatch.setattr(Process, "ask", import_for_ever)
    monkeypatch.setattr(Process, "kill", lambda _: killed.set(), raising=False)
    worker.renew()
    assert is_asked.wait(60)
    worker.close()
    assert processes[1].has_ended


def test_failed_preparation_is_reported_by_the_next_trace(processes, monkeypatch):
    def fail(*_, **__):
        raise WorkerError("failed: no such interpreter")

    with Worker() as worker:
        worker.trace(MODEL)
        monkeypatch.setattr(module, "Process", fail)
        worker.renew()
        with pytest.raises(WorkerError, match="importing PyTorch failed: no such interpreter"):
            worker.trace(MODEL)
    assert processes[0].has_ended
