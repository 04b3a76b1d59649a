"""One process and its messages; no model runs, so torch is not imported."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from modeldiagrams.errors import WorkerError
from modeldiagrams.options.options import Call, Limits, View
from modeldiagrams.worker import answering, process
from modeldiagrams.worker.process import Process
from modeldiagrams.worker.protocol import Hello, Prepare, Render, TraceRequest, receive, send


@pytest.fixture
def started():
    process = Process.spawn("draw")
    yield process
    process.end()


def start_failure(program: str) -> str:
    """What is said of a child that does something else than a worker does."""
    command = [sys.executable, "-c", f"import os, time\n{program}"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with pytest.raises(WorkerError) as raised:
        Process(lambda log: subprocess.Popen(command, stderr=log, start_new_session=True, **pipes), "other/python")
    return str(raised.value)


def test_a_slow_start_is_not_reported_as_another_version(monkeypatch):
    monkeypatch.setattr(process, "START_SECONDS", 0.2)
    assert start_failure("time.sleep(600)") == (
        "failed: the process did not start within 0.2 s; is this machine very busy?"
    )


def test_a_killed_start_is_not_reported_as_another_version():
    assert start_failure("os.kill(os.getpid(), 9)") == (
        "failed: the process was killed by signal SIGKILL when it started"
    )


@pytest.mark.parametrize(("program", "said"), [("", "no output"), ("raise ImportError('x')", "ImportError: x")])
def test_an_interpreter_without_modeldiagrams_is_an_error_that_says_what_to_install(program, said):
    message = start_failure(program)
    assert f"in the environment of other/python, but its `-m modeldiagrams.worker` ended ({said})" in message


def test_group_is_killed_only_once(started, monkeypatch):
    killed = []
    kill = os.killpg
    monkeypatch.setattr(os, "killpg", lambda *args: (killed.append(args), kill(*args)))
    started.end()
    started.end()
    assert killed == [(started._child.pid, signal.SIGKILL)]
    assert not started.is_usable()


def test_is_usable_does_not_reap_the_process(started):
    started._child.kill()
    deadline = time.monotonic() + 120
    while started.is_usable() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not started.is_usable()
    assert started._child.returncode is None


def test_ended_processes_leave_no_file_and_no_thread(started):
    started.end()
    before = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        Process.spawn("draw").end()
    assert (threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))) == before


def test_end_kills_the_whole_group(started):
    started.end()
    assert started._child.returncode == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.killpg(started._child.pid, 0)


def test_end_of_a_fork_leaves_the_process_to_its_owner(started):
    pid = os.fork()
    if pid == 0:
        try:
            is_fine = not started.is_usable()
            started.end()
        finally:
            os._exit(0 if is_fine else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert started.is_usable()


@pytest.mark.parametrize("request_", [Prepare(path=()), Render(graph=b"", view=View())])
def test_only_timeouts_of_traces_name_the_option(started, request_):
    started._is_late = True
    started.kill()
    assert str(started._exit_error(request_, 2)) == "took longer than 2 s and was stopped"
    trace = TraceRequest(call=Call(model="x"), limits=Limits(timeout=1, memory=1))
    assert str(started._exit_error(trace, 2)) == "took longer than 1 s and was stopped (option `timeout`)"


def test_signal_without_a_name_is_reported_by_number(started):
    started.kill()
    started._child.returncode = -40
    assert "by signal 40" in str(started._exit_error(Prepare(path=()), 1))


def test_large_output_does_not_fill_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_LARGEST_LOG", 10**6)
    monkeypatch.setattr(process, "_POLL_INTERVAL", 0.01)
    watched = Process.__new__(Process)
    answered = threading.Event()
    with (tmp_path / "log").open("w+b", buffering=0) as log:
        watched._log = log
        watch = threading.Thread(target=watched._watch, args=[answered, 60])
        watch.start()
        log.write(b"x" * 4 * 10**6)
        deadline = time.monotonic() + 120
        while os.fstat(log.fileno()).st_blocks * 512 > 10**6 and time.monotonic() < deadline:
            time.sleep(0.01)
        log.write(b"the end")
        answered.set()
        watch.join()
        assert os.fstat(log.fileno()).st_blocks * 512 < 10**6
        assert watched.printed() == "the end"


def test_text_instead_of_a_message_is_an_error():
    with pytest.raises(
        msgspec.DecodeError, match="expected a message, got b'Activating the e', which something else w"
    ):
        receive(io.BytesIO(b"Activating the environment"), Hello)


def test_half_a_message_is_the_end_of_the_process():
    whole = io.BytesIO()
    send(whole, Hello(version="1", libraries=()))
    for length in range(whole.tell()):
        with pytest.raises(EOFError):
            receive(io.BytesIO(whole.getvalue()[:length]), Hello)
    assert receive(io.BytesIO(whole.getvalue()), Hello) == Hello(version="1", libraries=())


def test_processes_that_models_started_end_with_the_owner(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        f"import subprocess, pathlib\nchild = subprocess.Popen(['sleep', '600'], stdin=subprocess.DEVNULL)\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(child.pid))\n"
    )
    owned = subprocess.Popen(
        [sys.executable, "-P", "-m", "modeldiagrams.worker", "draw"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    receive(owned.stdout, Hello)
    child = Path("/proc") / (tmp_path / "pid").read_text()
    assert child.exists()
    owned.communicate()
    deadline = time.monotonic() + 120
    while child.exists() and "Z" not in (child / "stat").read_text().split()[2] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not child.exists() or "Z" in (child / "stat").read_text().split()[2]


def test_the_owners_end_is_noticed_during_a_request(monkeypatch):
    noticed = threading.Event()
    monkeypatch.setattr(answering, "_end_group", noticed.set)
    read, write = os.pipe()
    with os.fdopen(read, "rb") as ours:
        with os.fdopen(write, "wb") as theirs:
            send(theirs, Prepare(path=("a",)))
            assert next(answering._read_ahead(ours)) == Prepare(path=("a",))
            assert not noticed.is_set()
        assert noticed.wait(120)
