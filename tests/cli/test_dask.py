"""`snapshot` on a real Dask cluster."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import psutil
import pytest

import modeldiagrams
from modeldiagrams.errors import ModelDiagramsError, WorkerError
from snapshot_site import forget, read_graphs, write_site


class Cluster:
    """A scheduler and its workers, with another current folder than the documentation's."""

    def __init__(self, folder, stack):
        file = folder / "scheduler.json"
        common = ["--scheduler-file", file, "--no-dashboard"]

        def start(*words):
            command = [sys.executable, "-m", "dask", *words, *common]
            process = stack.enter_context(subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL))
            stack.callback(self.kill, process)
            return process

        self.scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0")
        self.add_worker = lambda: start("worker", "--nthreads", "1")
        self.workers = [self.add_worker()]
        while not file.exists():
            time.sleep(0.1)
        self.address = json.loads(file.read_text())["address"].replace("tcp:", "dask:")

    def kill(self, process):
        """Kill a process and those that it started."""
        if process.poll() is None:
            for one in [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]:
                one.kill()


@pytest.fixture
def cluster(tmp_path_factory):
    with ExitStack() as stack:
        yield Cluster(tmp_path_factory.mktemp("cluster"), stack)


def test_a_cluster_makes_the_same_bytes(cluster, tmp_path):
    write_site(tmp_path)
    assert len(modeldiagrams.snapshot(tmp_path).written) == 3
    wanted = read_graphs(tmp_path)
    forget(tmp_path)
    report = modeldiagrams.snapshot(tmp_path, executor=cluster.address)
    assert len(report.written) == 3
    assert len(report.missing) == 1
    assert read_graphs(tmp_path) == wanted


def kill_when_two_are_traced(folder, kill):
    def watch():
        while len([*(folder / ".cache").rglob("*.graph.json.gz")]) < 2:
            time.sleep(0.05)
        kill()

    threading.Thread(target=watch, daemon=True).start()


@pytest.mark.zoo
def test_a_killed_worker_loses_nothing(cluster, tmp_path):
    write_site(tmp_path, seconds=3)
    modeldiagrams.snapshot(tmp_path)
    wanted = read_graphs(tmp_path)
    forget(tmp_path)
    cluster.add_worker()
    kill_when_two_are_traced(tmp_path, lambda: cluster.kill(cluster.workers[0]))
    assert len(modeldiagrams.snapshot(tmp_path, executor=cluster.address).written) == 3
    assert cluster.workers[0].returncode == -signal.SIGKILL or cluster.workers[0].poll() is not None
    assert read_graphs(tmp_path) == wanted


@pytest.mark.zoo
def test_a_vanished_scheduler_is_one_sentence_and_what_is_done_is_kept(cluster, tmp_path, capfd):
    write_site(tmp_path, seconds=3)
    kill_when_two_are_traced(tmp_path, cluster.scheduler.kill)
    with pytest.raises(WorkerError, match=r"^the executor, or the connection to it, ended .*next run does the rest$"):
        modeldiagrams.snapshot(tmp_path, executor=cluster.address)
    assert "Traceback" not in capfd.readouterr().err
    assert len([*(tmp_path / ".cache").rglob("*.graph.json.gz")]) >= 2
    with pytest.raises(ModelDiagramsError, match="expected a Dask scheduler at dask://"):
        modeldiagrams.snapshot(tmp_path, executor=cluster.address)
    start = time.monotonic()
    assert len(modeldiagrams.snapshot(tmp_path).written) == 3
    assert time.monotonic() - start < 60
