"""Lists of models come from other processes, in the same isolation as models."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from modeldiagrams.engine.executors import make_workers
from modeldiagrams.options.options import Limits
from modeldiagrams.worker import ListedModels, Refused, remote

NETS = "print('hello')\nfrom torch import nn\nclass Net(nn.Module): pass\n"


@pytest.mark.parametrize("place", ["here", "elsewhere"])
def test_names_sources_and_problems(worker, tmp_path, place):
    (tmp_path / "nets.py").write_text(NETS)
    (tmp_path / "bad.py").write_text(f"open({str(tmp_path / 'none')!r})")
    with ThreadPoolExecutor(1) as threads:
        used = worker if place == "here" else make_workers(threads).get(None, gpu=False)
        answer = used.list_models(("nets", "bad", "torch.nn.Linear"), (), Limits(), [tmp_path])
    remote._close_workers()
    assert isinstance(answer, ListedModels)
    assert answer.names == ("nets.Net", "torch.nn.Linear")
    assert (answer.sources, answer.output) == ((str(tmp_path / "nets.py"),), "hello\n")
    assert answer.problems == (
        "importing 'bad' raised FileNotFoundError: [Errno 2] No such file or directory: 'none' (bad.py:1 in <module>)",
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import os; os._exit(3)", "listing the models of nets ended the tracing process with exit status 3"),
        ("while True: pass", "listing the models of nets took longer than 3 s and was stopped (option `timeout`)"),
    ],
)
def test_a_package_that_ends_its_process(worker, tmp_path, code, message):
    (tmp_path / "nets.py").write_text(code)
    answer = worker.list_models(("nets",), (), Limits(timeout=3), [tmp_path])
    assert isinstance(answer, Refused)
    assert (answer.problem.message, answer.problem.frames) == (message, ("nets.py:1 in <module>",))
