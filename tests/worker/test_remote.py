"""Models that run elsewhere: the same answers as here, or a sentence about what differs there."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from modeldiagrams.engine.executors import make_workers
from modeldiagrams.errors import WorkerError
from modeldiagrams.worker import Refused, Traced, Worker, remote
from option_helpers import make_options

MODELS = """
import os, time
from torch import nn

class Net(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(4, 4), nn.ReLU())

class Raises(Net):
    def forward(self, x):
        raise ValueError("no")

class Dies(Net):
    def forward(self, x):
        os.kill(os.getpid(), 9)

class Hangs(Net):
    def forward(self, x):
        time.sleep(99)
"""


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(2) as executor:
        yield executor
    remote._close_workers()


@pytest.fixture
def folder(tmp_path):
    """The folder here; what is `here/` in an order is `away/` on the other machine, see `Elsewhere`."""
    for name in ("here", "away"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "nets.py").write_text(MODELS, "utf-8")
    return tmp_path / "here"


class Elsewhere:
    """An executor on a machine where the project has another path, which doesn't exist here."""

    def __init__(self, executor, folder):
        self.executor = executor
        self.away = folder.parent / "away"

    def submit(self, function, code, values):
        assert b"/here" in values["order"]
        future = self.executor.submit(function, code, {"order": values["order"].replace(b"/here", b"/away")})
        future.exception()
        self.away.rename(self.away.with_name("gone"))
        return future


def trace(executor, folder, model="nets.Net", **options):
    worker = make_workers(executor).get(None, gpu=False)
    return worker.trace(make_options(model=model, inputs=[1, 4], **options), [folder])


@pytest.fixture(scope="module")
def worker():
    with Worker() as worker:
        yield worker


@pytest.mark.parametrize("model", ["Net", "Raises", "Dies", "Hangs"])
def test_answers_are_those_of_a_worker_here(threads, worker, folder, model):
    options = {"timeout": 2} if model == "Hangs" else {}
    wanted = worker.trace(make_options(model=f"nets.{model}", inputs=[1, 4], **options), [folder])
    found = trace(threads, folder, f"nets.{model}", **options)
    assert isinstance(found, Refused) is (model in {"Dies", "Hangs"})
    if isinstance(found, Traced):
        assert found == wanted
    else:
        assert found.problem == wanted.problem
        assert found.may_differ


def test_a_folder_with_the_same_code_may_have_another_path(threads, folder):
    found = trace(Elsewhere(threads, folder), folder)
    assert isinstance(found, Traced)
    assert found.sources == (str(folder / "nets.py"),)
    assert found.graph == trace(threads, folder).graph


@pytest.mark.parametrize("code", [MODELS.replace("Linear(4, 4)", "Linear(4, 8)"), None])
def test_another_package_there_is_refused(threads, folder, code):
    file = folder.parent / "away" / "nets.py"
    file.write_text(code, "utf-8") if code else file.unlink()
    got = r"nets \(code \w+\)" if code else "no nets"
    with pytest.raises(WorkerError, match=rf"^expected nets \(code \w+\) as here, got {got} on .*; install"):
        trace(Elsewhere(threads, folder), folder)


def test_another_module_there_costs_the_models_that_use_it(threads, folder):
    for place in (folder, folder.parent / "away"):
        (place / "sizes.py").write_text("SIZE = 4\n", "utf-8")
        (place / "uses.py").write_text("from sizes import SIZE\n" + MODELS.replace("(4, 4)", "(SIZE, SIZE)"), "utf-8")
    (folder.parent / "away" / "sizes.py").write_text("SIZE = 4 \n", "utf-8")
    found = trace(Elsewhere(threads, folder), folder, "uses.Net")
    assert isinstance(found, Refused)
    assert found.may_differ  # so that it is tried again
    assert found.problem.message.startswith("tracing uses.Net used a file sizes.py on ")


def test_other_versions_of_libraries_there_are_refused(threads, folder, monkeypatch):
    there = remote.list_versions
    (folder / "uses.py").write_text(f"import numpy\n{MODELS}", "utf-8")
    (folder.parent / "away" / "uses.py").write_text(f"import numpy\n{MODELS}", "utf-8")
    order = remote.run_order

    def run_with_other_numpy(content):
        delivery = remote.decode(order(content), remote._Delivery)
        assert delivery.libraries == there(["numpy"])
        return remote.encode(remote._Delivery(delivery.answer, "node7", delivery.sources, {"numpy": "1.0"}))

    monkeypatch.setattr(remote, "run_order", run_with_other_numpy)
    found = trace(threads, folder, "uses.Net")
    assert isinstance(found, Refused)
    assert f"used numpy 1.0 on node7, but here it is {there(['numpy'])['numpy']}; install" in found.problem.message


def test_other_versions_of_pytorch_there_are_refused_by_another_process(folder, monkeypatch):
    made_with = remote.made_with
    monkeypatch.setattr(remote, "made_with", lambda **which: (*made_with(**which)[:-1], "1.0"))
    with ProcessPoolExecutor(1) as executor:
        executor.submit(int).result()  # which forks before
        monkeypatch.undo()
        with pytest.raises(WorkerError, match=r"^expected modeldiagrams .* as here, got .* torch 1\.0 on "):
            trace(executor, folder)


class Failing:
    def __init__(self, *errors):
        self.errors = [*errors]

    def submit(self, *_):
        future = ThreadPoolExecutor(1).submit(partial(self._fail))
        assert future.exception()
        return future

    def _fail(self):
        raise self.errors.pop(0)


def test_what_a_model_does_to_an_executor_costs_this_model(folder):
    found = trace(Failing(MemoryError("on node7")), folder)
    assert found == Refused(
        problem=remote.Problem(
            kind="worker", message="tracing nets.Net failed on the executor with MemoryError: on node7"
        ),
        may_differ=True,
    )


def test_an_executor_without_the_package_is_refused(folder):
    with pytest.raises(WorkerError, match=r"^expected modeldiagrams .* got ModuleNotFoundError: No module .*; install"):
        trace(Failing(ModuleNotFoundError("No module named 'modeldiagrams'")), folder)


def test_an_ended_executor_is_named(folder):
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(WorkerError, match=r"^the executor takes no models \(RuntimeError: .*what was traced is kept"):
        trace(executor, folder)


def test_descriptions_follow_the_code(tmp_path):
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("", "utf-8")
    found = [remote._describe_package("pkg", (str(tmp_path),), None)]
    (package / "part.py").write_text("", "utf-8")
    found.append(remote._describe_package("pkg", (str(tmp_path),), None))
    (package / "part.py").write_text("x", "utf-8")
    found.append(remote._describe_package("pkg", (str(tmp_path),), None))
    assert len({*found}) == 3
    assert remote._describe_package("torch", (remote._THERE,), None).startswith("torch 2.")
    assert remote._describe_package("unknown_package", (), None) == "no unknown_package"


def test_the_order_of_folders_is_that_of_a_worker_here(tmp_path):
    (tmp_path / "src").mkdir()
    options = make_options(model="nets.Net")
    here = Worker().request(options, [tmp_path]).path
    there = make_workers(ThreadPoolExecutor(1)).get(None, gpu=False).request(options, [tmp_path]).path
    position = there.index(remote._THERE)
    own = [str(Path(entry).absolute()) for entry in sys.path]
    assert [*dict.fromkeys([*there[:position], *own, *there[position + 1 :]])] == [*dict.fromkeys(here)]
