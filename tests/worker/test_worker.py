from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from modeldiagrams.errors import RenderError, WorkerError
from modeldiagrams.ir.serialize import deserialize
from modeldiagrams.options.options import View
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.worker import Refused, Traced, Worker
from samples import PROJECT


def trace(worker, model, inputs="[1, 4]", **options):
    return worker.trace(parse_options({"model": model, "inputs": inputs, **options}), [PROJECT])


def test_trace_returns_graph_and_sources(worker):
    answer = trace(worker, "mypkg.Model")
    assert isinstance(answer, Traced)
    assert deserialize(answer.graph).status.state == "complete"
    assert str(PROJECT / "mypkg" / "models.py") in answer.sources
    assert all(source.startswith(str(PROJECT)) for source in answer.sources)


def test_second_trace_reuses_the_process_and_gives_the_same_bytes(worker):
    first = trace(worker, "mypkg.Model")
    process = worker._process
    assert trace(worker, "mypkg.Model").graph == first.graph
    assert worker._process is process


def test_protocol_keeps_integer_keys_and_assumptions(worker):
    answer = trace(worker, "mypkg.models.TakesMap", inputs="{batch: {0: [1, 4], 1: [1, 4]}}")
    assert deserialize(answer.graph).status.error is None
    graph = deserialize(worker.trace(parse_options({"model": "mypkg.models.Configured"}), [PROJECT]).graph)
    assert [item.subject for item in graph.assumptions] == ["rule", "config", "rule", "inputs.input_ids"]


def test_wrong_model_is_refused_with_kind_frames_and_sources(worker):
    answer = trace(worker, "mypkg.models.RaisesInInit")
    assert isinstance(answer, Refused)
    assert answer.problem.kind == "model"
    assert answer.problem.frames[-1].startswith("mypkg/models.py:")
    assert str(PROJECT / "mypkg" / "models.py") in answer.sources


def test_wrong_inputs_are_a_problem_of_their_own_kind(worker):
    assert trace(worker, "mypkg.Model", inputs="{y: [1, 4]}").problem.kind == "inputs"


def test_output_of_a_model_is_captured_and_its_input_is_empty(worker):
    answer = trace(worker, "mypkg.models.Chatty")
    assert deserialize(answer.graph).status.state == "complete"
    for line in ("print says hello", "stderr says hello", "fd 1 says hello"):
        assert line in worker.output
    trace(worker, "mypkg.Model")
    assert worker.output == ""


def test_child_forked_by_a_model_does_not_answer(worker):
    answer = trace(worker, "mypkg.models.Forks")
    assert deserialize(answer.graph).status.state == "complete"
    assert isinstance(trace(worker, "mypkg.Model"), Traced)


def test_death_is_reported_in_one_sentence_and_the_next_request_starts_anew(worker):
    with pytest.raises(WorkerError) as caught:
        trace(worker, "mypkg.models.Dies", args="[6]", inputs="[1, 6]")
    message = str(caught.value)
    assert message.startswith(
        "tracing mypkg.models.Dies ended the tracing process with exit status 7; its last output:\n"
    )
    assert "last words" in message
    assert isinstance(trace(worker, "mypkg.Model"), Traced)


def test_edited_source_is_traced_anew(worker, tmp_path):
    source = tmp_path / "edited.py"
    source.write_text("from torch import nn\n\nclass Model(nn.Linear):\n    pass\n")
    options = parse_options({"model": "edited.Model", "args": "[4, 4]", "inputs": "[1, 4]"})
    first = worker.trace(options, [tmp_path])
    source.write_text(
        "from torch import nn\n\nclass Model(nn.Linear):\n"
        "    def forward(self, x):\n        return super().forward(x).tanh()\n"
    )
    second = worker.trace(options, [tmp_path])
    assert b"tanh" not in first.graph
    assert b"tanh" in second.graph


def test_invalid_graph_is_a_render_error(worker):
    with pytest.raises(RenderError) as caught:
        worker.render(b'{"nonsense": 1}', View())
    assert len(str(caught.value)) < 500


def test_timeout_stops_the_process():
    with Worker() as worker, pytest.raises(WorkerError, match=r"took longer than 0\.2 s and was stopped") as caught:
        trace(worker, "mypkg.models.Hangs", timeout=0.2)
    assert caught.value.frames[-1].startswith("mypkg/models.py:")
    assert caught.value.frames[-1].endswith(" in forward")


def test_closing_kills_the_whole_group():
    worker = Worker()
    with pytest.raises(RenderError):
        worker.render(b"{}", View())
    process = worker._process._child
    worker.close()
    assert process.returncode == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    worker.close()


def test_death_between_requests_starts_a_new_process():
    with Worker() as worker:
        for _ in range(2):
            with pytest.raises(RenderError):
                worker.render(b"{}", View())
            process = worker._process._child
            process.kill()
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


def test_forked_child_starts_its_own_process(worker):
    trace(worker, "mypkg.Model")
    before = worker._process
    pid = os.fork()
    if pid == 0:
        try:
            trace(worker, "mypkg.nothing")
            own = worker._process._child
            fine = worker._process is not before
            worker.close()
            os._exit(0 if fine and own.returncode == -signal.SIGKILL else 1)
        finally:
            os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0
    assert isinstance(trace(worker, "mypkg.Model"), Traced)
    assert worker._process is before


def test_process_ends_with_its_owner():
    script = (
        "import os, signal\nfrom modeldiagrams.errors import RenderError\n"
        "from modeldiagrams.worker import Worker\nfrom modeldiagrams.options.options import View\n"
        "worker = Worker()\ntry:\n    worker.render(b'{}', View())\nexcept RenderError:\n    pass\n"
        "print(worker._process._child.pid, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    owner = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    pid = int(owner.stdout)
    deadline = time.monotonic() + 10
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid):
    """Whether a process is there and more than a zombie that nobody waits for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
