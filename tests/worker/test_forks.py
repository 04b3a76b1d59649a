"""A process for each model: what starts and ends with it.

Long because processes are watched in many states.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from modeldiagrams.worker import Traced, Worker, template, tracing
from modeldiagrams.worker.forks import _converse
from modeldiagrams.worker.process import Process
from modeldiagrams.worker.template import ask_for_fork
from option_helpers import make_options

LAYER = make_options(model="torch.nn.Identity", inputs=[1, 4])
MODELS = """
import os, sys, time
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, what=None, *args):
        super().__init__()
        exec(what or "")

    def forward(self, x):
        return x + 1
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "models.py").write_text(MODELS)
    return folder


@pytest.fixture(scope="module")
def run(worker, project):
    """Traces a model that executes a program when it is made."""

    def made(program: str = "", **options: object):
        return worker.trace(make_options(model="models.Net", args=[program], inputs=[1, 4], **options), [project])

    return made


def wait_until(is_so) -> bool:
    deadline = time.monotonic() + 120
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    return is_so()


def runs(pid: int) -> bool:
    """Whether a process runs and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_every_model_has_a_process_of_its_own(run):
    parents = "print(os.getpid(), os.getppid())"
    found = [run(parents).output.split() for _ in range(2)]
    assert len({pid for pids in found for pid in pids}) == 4


HARM = {
    "replaced json": "import json; json.loads = json.JSONDecoder = None",
    "no excepthook": "import threading; threading.excepthook = None; threading.settrace(lambda *_: 1 / 0)",
    "missing module": "sys.modules['modeldiagrams.ir'] = None",
    "warnings as errors": "import warnings; warnings.simplefilter('error')",
    "non-blocking pipes": "[os.set_blocking(number, False) for number in range(6)]",
    "closed files": "sys.stdout.flush(); os.closerange(0, 99)",
    "patched torch": "torch.Tensor.__add__ = torch.Tensor.__mul__",
    "unreadable answer": "import msgspec; msgspec.msgpack.encode = lambda *_: b'nonsense'",
    "no builtins": "import builtins; builtins.open = builtins.len = builtins.isinstance = None",
    "kills its parent": "os.kill(os.getppid(), 9); time.sleep(60)",
    "stopped parent": "import signal; os.kill(os.getpid(), signal.SIGKILL)",
}


@pytest.fixture(scope="module")
def unharmed(run):
    return run()


@pytest.mark.parametrize("program", HARM.values(), ids=HARM)
def test_no_harm_reaches_the_next_model(run, unharmed, program):
    run(program, timeout=5)
    assert run() == unharmed


def test_killed_guard_is_a_problem_of_its_model(run):
    problem = run("os.kill(os.getppid(), 9); time.sleep(60)").problem
    assert (problem.kind, problem.message) == ("worker", "tracing models.Net ended the process that guards it")


def test_model_ends_without_running_its_exit_hooks(run, tmp_path):
    run(f"import atexit; atexit.register(open, {str(tmp_path / 'hook')!r}, 'w')")
    assert not (tmp_path / "hook").exists()


@pytest.mark.parametrize("session", ["", "os.setsid()"])
def test_orphans_of_a_model_end_with_it(run, session):
    """A daemon: its parent is gone, and its group and session are other ones."""
    pid = run(f"""
read, write = os.pipe()
if not os.fork():
    {session}
    if not os.fork():
        os.write(write, str(os.getpid()).encode())
        time.sleep(600)
    os._exit(0)
print(os.read(read, 20).decode())
""").output
    assert not runs(int(pid))


def test_template_never_started_a_thread(worker):
    assert isinstance(worker.trace(LAYER), Traced)
    pid = worker._template._child.pid
    assert [task.name for task in Path(f"/proc/{pid}/task").iterdir()] == [str(pid)]


def test_real_ops_run_on_threads_in_a_fork(run):
    program = (
        "torch.set_num_threads(2); torch.nn.Conv2d(8, 8, 3)(torch.ones(8, 8, 64, 64));"
        "print(len(os.listdir('/proc/self/task')) > 1)"
    )
    assert run(program).output == "True\n"


def test_dead_template_is_replaced(worker):
    worker.trace(LAYER)
    before = worker._template
    os.kill(before._child.pid, signal.SIGKILL)
    assert wait_until(lambda: not before.is_usable())
    assert isinstance(worker.trace(LAYER), Traced)
    assert worker._template is not before


def test_templates_that_are_killed_at_once_are_a_problem_of_the_model(monkeypatch):
    """An error with EPIPE that reaches Click, and so MkDocs, ends the build without a word."""
    spawn = Process.spawn

    def killed(*arguments, **options):
        process = spawn(*arguments, **options)
        process.kill()
        return process

    monkeypatch.setattr(Process, "spawn", killed)
    with Worker() as worker:
        problem = worker.trace(LAYER).problem
    assert (problem.kind, problem.message) == (
        "worker",
        "importing PyTorch failed: the process that does it was killed 2 times",
    )


def test_guard_that_is_killed_before_it_reads_is_a_problem_of_the_model(worker):
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours:
        problem = _converse(ours, worker.request(LAYER)).problem
    assert (problem.kind, problem.message) == ("worker", "tracing torch.nn.Identity ended the process that guards it")


def test_fork_with_modules_has_imported_them(worker, project):
    worker.trace(LAYER)

    def loaded(modules):
        options = make_options(model="models.Net", args=["print('wave' in sys.modules)"], inputs=[1, 4])
        with ask_for_fork(worker._control, modules) as conversation:
            return _converse(conversation, worker.request(options, [project])).output

    many = [f"no.such.module_{number:030}" for number in range(10_000)]  # more than fits into a packet as they are
    wanted = [(), ["wave"], ["no.such.module"], ["wave"], ["wave", *many]]
    assert [loaded(modules) for modules in wanted] == ["False\n", "True\n", "False\n", "True\n", "True\n"]


def test_more_modules_than_can_be_told_are_left_to_the_fork():
    assert template._read_packet([os.urandom(20).hex() for _ in range(20_000)]) == template._read_packet([])


@pytest.mark.parametrize(("name", "is_safe"), [("quiet", True), ("broken", True), ("threaded", False)])
def test_template_imports_nothing_that_starts_threads(tmp_path, monkeypatch, name, is_safe):
    (tmp_path / "quiet.py").touch()
    (tmp_path / "broken.py").write_text("raise SystemExit")
    (tmp_path / "threaded.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=[1]).start()"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert template._has_imported([name]) is is_safe


@pytest.mark.parametrize(("statement", "expected"), [("", ("heavy",)), ("import os; os.environ['HEAVY'] = '1'", ())])
def test_libraries_of_a_slow_import_are_told_unless_it_prepares_them(tmp_path, monkeypatch, statement, expected):
    library = tmp_path / "site-packages"
    library.mkdir()
    (library / "heavy.py").touch()
    (tmp_path / "light.py").write_text(f"{statement}\nimport heavy\nfrom torch import nn\nNet = nn.Identity\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(library)
    monkeypatch.setenv("HEAVY", "0")
    monkeypatch.setattr(tracing, "_MANY_MODULES", 1)
    tracing.warm_up()  # as workers do
    for module in ("heavy", "light"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    assert tracing._list_imported("light.Net") == expected


def test_fork_of_a_user_process_shares_the_template(worker):
    worker.trace(LAYER)
    pid = os.fork()
    if pid == 0:
        is_fine = False
        try:
            before = worker._template
            is_fine = isinstance(worker.trace(LAYER), Traced) and worker._template is before
            worker.close()
        finally:
            os._exit(0 if is_fine else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert isinstance(worker.trace(LAYER), Traced)


SITE = """
import os, signal, sys, threading, time
from pathlib import Path
from modeldiagrams.worker import Worker
from option_helpers import make_options

program = "open(" + repr(sys.argv[1]) + ", 'w').write(f'{os.getpid()} {os.getppid()}'); time.sleep(600)"
worker = Worker()
model = make_options(model="models.Net", args=[program], inputs=[1, 4])
threading.Thread(target=worker.trace, args=[model, [Path.cwd()]], daemon=True).start()
while not Path(sys.argv[1]).exists() or not Path(sys.argv[1]).read_text():
    time.sleep(0.02)
print(worker._template._child.pid, flush=True)
time.sleep(600)
"""


def test_killed_build_leaves_no_process_even_while_a_model_runs(project, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", SITE, str(tmp_path / "pids")]
    with subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.PIPE, text=True) as build:
        template_pid = int(build.stdout.readline())
        build.kill()
    pids = [template_pid, *map(int, (tmp_path / "pids").read_text().split())]
    assert len(set(pids)) == 3
    assert wait_until(lambda: not any(map(runs, pids)))


def test_answer_that_is_none_is_said_to_be_so(run):
    problem = run("import msgspec; msgspec.msgpack.encode = lambda *_: b'nonsense'").problem
    assert (
        problem.message == "tracing models.Net left the tracing process unable to answer: Expected `object`, got `int`"
    )


def test_fork_whose_answer_fails_does_not_go_on_as_its_parent(run, tmp_path):
    """Python's own exit would run what was registered, and code of the guard."""
    hook = f"import atexit, builtins; atexit.register(open, {str(tmp_path / 'hook')!r}, 'w')"
    answer = run(f"{hook}; builtins.len = builtins.isinstance = None")
    assert answer.problem.kind == "worker"
    assert answer.output == ""
    assert not (tmp_path / "hook").exists()


COLLECTIONS = """
import gc, os, sys
from modeldiagrams.worker import template

found = []
gc.callbacks.append(lambda phase, _: found.append(phase))
template._serve = lambda _: (print(len(found), file=sys.stderr), os._exit(0))
found.clear()
template.serve_forks(None)
"""


def test_template_looks_for_no_garbage_while_it_imports_pytorch():
    command = [sys.executable, "-c", COLLECTIONS]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert done.stderr.split()[-1] == b"0"


def test_models_have_a_garbage_collector_that_spares_what_was_imported(worker, project):
    lines = (
        "import gc, sys",
        "BEFORE = {*sys.modules}",
        "from torch import nn",
        "class Net(nn.Linear):",
        "    def __init__(self):",
        "        super().__init__(4, 4)",
        "        assert gc.isenabled() and gc.get_freeze_count() > 100_000",
        "        assert 'numpy' not in sys.modules or 'numpy.random' in BEFORE",
    )
    (project / "collected.py").write_text("\n".join(lines))
    answer = worker.trace(make_options(model="collected.Net", inputs=[1, 4]), [project])
    assert isinstance(answer, Traced), answer.problem
