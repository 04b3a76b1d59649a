"""`snapshot` on several processes: the same bytes, and nothing is lost if a part fails."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from click.testing import CliRunner

import modeldiagrams
from modeldiagrams.cli import main
from modeldiagrams.errors import ModelDiagramsError, WorkerError
from modeldiagrams.worker import remote
from snapshot_site import forget, read_graphs, write_site


@pytest.fixture
def site(tmp_path):
    write_site(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(2) as executor:
        yield executor
    remote._close_workers()


class Counting:
    """An executor that counts orders, and fails with the last ones."""

    def __init__(self, executor, failing_from=99, error=CancelledError):
        self.executor = executor
        self.count = 0
        self.failing_from = failing_from
        self.error = error

    def submit(self, *order):
        self.count += 1
        if self.count < self.failing_from:
            return self.executor.submit(*order)
        future = Future()
        future.set_exception(self.error("gone"))
        return future


def test_the_same_bytes_wherever_models_run(site, threads):
    made = []
    for executor, jobs in ((None, 1), (None, 3), (threads, None), (threads, 1)):
        report = modeldiagrams.snapshot(site, executor=executor, jobs=jobs)
        assert len(report.written) == 3
        assert len(report.missing) == 1
        made.append(read_graphs(site))
        forget(site)
    assert len(made[0]) == 3
    assert made.count(made[0]) == 4


def test_what_was_traced_is_kept_when_the_executor_ends(site, threads, capfd):
    ended = Counting(threads, failing_from=3)
    with pytest.raises(WorkerError, match=r"^the executor, or the connection to it, ended .* the next run does"):
        modeldiagrams.snapshot(site, executor=ended, jobs=1)
    assert "Traceback" not in capfd.readouterr().err
    rest = Counting(threads)
    assert len(modeldiagrams.snapshot(site, executor=rest, jobs=1).written) == 3
    assert rest.count == 2
    again = Counting(threads)
    assert len(modeldiagrams.snapshot(site, executor=again).unchanged) == 3
    assert again.count == 0


def test_a_failed_order_costs_its_own_entry(site, threads):
    report = modeldiagrams.snapshot(site, executor=Counting(threads, failing_from=4, error=MemoryError), jobs=1)
    assert len(report.written) == 2
    assert len(report.missing) == 2
    assert len(modeldiagrams.snapshot(site, executor=threads).written) == 1


def test_a_killed_process_of_a_pool_loses_nothing_that_was_traced(site, threads):
    class Killing(Counting):
        def submit(self, *order):
            future = super().submit(*order)
            if self.count == 3:
                future.result()
                (process,) = self.executor._processes
                os.kill(process, signal.SIGKILL)
            return future

    with ProcessPoolExecutor(1) as pool, pytest.raises(WorkerError, match=r"BrokenProcessPool|the executor takes no"):
        modeldiagrams.snapshot(site, executor=Killing(pool), jobs=1)
    rest = Counting(threads)
    assert len(modeldiagrams.snapshot(site, executor=rest).written) == 3
    assert rest.count == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--jobs", "0"], "Invalid value for '--jobs': 0 is not in the range x>=1."),
        (["--executor", "ray://a:1"], "executor: expected dask://HOST:PORT, or from Python an Executor of"),
        (["--executor", "dask://a:b"], "executor: expected dask://HOST:PORT, or from Python an Executor of"),
        (["--executor", "dask://127.0.0.1:9"], "executor: expected a Dask scheduler at dask://127.0.0.1:9: "),
    ],
)
def test_bad_input_is_one_sentence(site, words, sentence, monkeypatch):
    monkeypatch.setattr("modeldiagrams.engine.executors._CONNECT_SECONDS", 0.2)
    done = CliRunner().invoke(main, ["snapshot", str(site), *words])
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].startswith(f"Error: {sentence}")


def test_bad_arguments_are_one_sentence(site, monkeypatch):
    with pytest.raises(ModelDiagramsError, match=r"^jobs: expected a whole number of at least 1, got 0$"):
        modeldiagrams.snapshot(site, jobs=0)
    with pytest.raises(ModelDiagramsError, match=r"^executor: expected dask://HOST:PORT, .* got 3$"):
        modeldiagrams.snapshot(site, executor=3)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ModelDiagramsError, match=r"^executor: Dask is not installed here: pip install 'modeldiagrams"):
        modeldiagrams.snapshot(site, executor="dask://localhost:1")
