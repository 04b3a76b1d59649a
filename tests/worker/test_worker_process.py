"""One process and the dialogue with it; no model is run, so torch is not imported."""

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

from modeldiagrams.errors import RenderError
from modeldiagrams.options.options import Call, Limits, View
from modeldiagrams.worker import Worker, process
from modeldiagrams.worker.process import Process
from modeldiagrams.worker.protocol import Hello, Prepare, Problem, Ready, Refused, Render, Trace, receive
from option_helpers import make_options


@pytest.fixture
def started():
    """A process that has answered once."""
    worker = Worker()
    with pytest.raises(RenderError):
        worker.render(b"{}", View())
    yield worker._process
    worker.close()


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
    deadline = time.monotonic() + 10
    while started.is_usable() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not started.is_usable()
    assert started._child.returncode is None


def test_closed_workers_leave_no_file_and_no_thread(started):
    started.end()
    before = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        with Worker() as worker, pytest.raises(RenderError):
            worker.render(b"{}", View())
    assert (threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))) == before


@pytest.mark.parametrize("request_", [Prepare(path=()), Render(graph=b"", view=View())])
def test_only_timeouts_of_traces_name_the_option(started, request_):
    started._is_late = True
    started.kill()
    assert str(started._exit_error(request_, 2)) == "took longer than 2 s and was stopped"
    trace = Trace(call=Call(model="x"), limits=Limits(timeout=1, memory=1), mode="auto")
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
        deadline = time.monotonic() + 10
        while os.fstat(log.fileno()).st_blocks * 512 > 10**6 and time.monotonic() < deadline:
            time.sleep(0.01)
        log.write(b"the end")
        answered.set()
        watch.join()
        assert os.fstat(log.fileno()).st_blocks * 512 < 10**6
        assert watched._printed() == "the end"


def test_text_in_place_of_a_message_is_an_error():
    with pytest.raises(msgspec.DecodeError, match="expected a message, got b'Activati'"):
        receive(io.BytesIO(b"Activating the environment"), Hello)
    with pytest.raises(EOFError):
        receive(io.BytesIO(b"\0\0"), Hello)


def test_processes_that_models_started_end_with_the_owner(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        f"import subprocess, pathlib\nchild = subprocess.Popen(['sleep', '600'], stdin=subprocess.DEVNULL)\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(child.pid))\n"
    )
    owned = subprocess.Popen(
        [sys.executable, "-P", "-m", "modeldiagrams.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    receive(owned.stdout, Hello)
    child = Path("/proc") / (tmp_path / "pid").read_text()
    assert child.exists()
    owned.communicate()
    deadline = time.monotonic() + 10
    while child.exists() and "Z" not in (child / "stat").read_text().split()[2] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not child.exists() or "Z" in (child / "stat").read_text().split()[2]


@pytest.mark.parametrize("value", [1e300, float("inf")])
def test_infinite_limits_are_clamped(monkeypatch, value):
    requests = []
    answers = iter([Ready(), Refused(problem=Problem(kind="model", message="none"))])
    worker = Worker()
    monkeypatch.setattr(worker, "_ask", lambda request, *_: requests.append(request) or next(answers))
    worker.trace(make_options(model="x.Y", timeout=value, memory=value))
    assert (requests[1].limits.seconds, requests[1].limits.gigabytes) == (1e6, 1e6)


def test_import_path_of_another_interpreter_excludes_our_libraries(monkeypatch, tmp_path):
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    library = Path(os.__file__).parent
    zipped = library.parent / f"python{version.replace('.', '')}.zip"
    own = [str(library), str(library / "lib-dynload"), str(zipped), str(tmp_path)]
    monkeypatch.setattr(sys, "path", own)
    assert Worker("/other/bin/python")._import_path([]) == (str(tmp_path),)
    assert Worker()._import_path([]) == tuple(own)
