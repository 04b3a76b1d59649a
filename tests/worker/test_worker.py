"""The real worker of this platform runs one model after the other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from modeldiagrams.ir.serialize import deserialize
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.worker import Problem, Refused, Traced, Worker
from option_helpers import make_options
from samples import PROJECT


def trace(worker, model, inputs="[1, 4]", **options):
    return worker.trace(parse_options({"model": model, "inputs": inputs, **options}), [PROJECT])


def test_trace_returns_graph_and_sources(worker):
    answer = trace(worker, "mypkg.Model")
    assert isinstance(answer, Traced)
    assert deserialize(answer.graph).status.state == "complete"
    assert str(PROJECT / "mypkg" / "models.py") in answer.sources
    assert all(source.startswith(str(PROJECT)) for source in answer.sources)


def test_mode_and_training_are_options(worker, tmp_path):
    (tmp_path / "detector.py").write_text(
        "from torch import nn\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.body = nn.Linear(4, 2)\n"
        "    def forward(self, x):\n"
        "        y = self.body(x)\n"
        "        return {'loss': y.sum()} if self.training else {'boxes': y}\n"
    )
    for options, mode, output in (({}, "fake", "boxes"), ({"mode": "real", "training": "true"}, "real", "loss")):
        wanted = parse_options({"model": "detector.Net", "inputs": "[1, 4]", **options})
        graph = deserialize(worker.trace(wanted, [tmp_path]).graph)
        assert (graph.status.mode, list(graph.model.outputs)) == (mode, [output])
    found = deserialize(worker.trace(parse_options({"model": "detector.Net", "training": "true"}), [tmp_path]).graph)
    assert list(found.model.outputs) == ["loss"]


def test_explore_is_an_option(worker, tmp_path):
    (tmp_path / "gate.py").write_text(
        "from torch import nn\n"
        "class Gate(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.a, self.b = nn.Linear(4, 2), nn.Linear(4, 2)\n"
        "    def forward(self, x):\n"
        "        return self.a(x) if x.mean() > 0 else self.b(x)\n"
    )
    options = {"model": "gate.Gate", "explore": "true"}
    answer = worker.trace(parse_options(options), [tmp_path])
    cases = deserialize(answer.graph).cases
    assert [case.forced for case in cases] == [False, True]
    assert cases[1].text == "x.mean() > 0"
    assert not answer.may_differ
    assert worker.trace(parse_options(options), [tmp_path]).graph == answer.graph
    # a pass only begins if there is time for it, and what the clock ended is not for the cache
    cut = worker.trace(parse_options({**options, "timeout": "0.02"}), [tmp_path])
    assert isinstance(cut, Refused) or cut.may_differ


def test_cases_come_back_as_one_graph(worker):
    cases = {"two": {"inputs": [2, 4]}, "deep": {"kwargs": {"depth": 3}}, "bad": {"inputs": [1, 5]}}
    answer = trace(worker, "tinymodels.Net", cases=cases)
    graph = deserialize(answer.graph)
    assert [case.status.state for case in graph.cases] == ["complete", "complete", "partial"]
    assert graph.node("blocks.2").cases == (1,)
    assert graph.case("two").tensors["input:x:0"].shape == (2, 4)


def test_second_trace_gives_the_same_bytes(worker):
    assert trace(worker, "mypkg.Model") == trace(worker, "mypkg.Model")


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


def test_wrong_inputs_have_their_own_kind_of_problem(worker):
    assert trace(worker, "mypkg.Model", inputs="{y: [1, 4]}").problem.kind == "inputs"


def test_output_of_a_model_is_captured_and_its_input_is_empty(worker):
    answer = trace(worker, "mypkg.models.Chatty")
    assert deserialize(answer.graph).status.state == "complete"
    for line in ("print says hello", "stderr says hello", "fd 1 says hello"):
        assert line in answer.output
    assert trace(worker, "mypkg.Model").output == ""


def test_child_forked_by_a_model_does_not_answer(worker):
    answer = trace(worker, "mypkg.models.Forks")
    assert deserialize(answer.graph).status.state == "complete"
    assert isinstance(trace(worker, "mypkg.Model"), Traced)


def test_death_is_a_sentence_separate_from_the_output(worker):
    problem = trace(worker, "mypkg.models.Dies", args="[6]", inputs="[1, 6]").problem
    assert problem.kind == "worker"
    assert problem.message == "tracing mypkg.models.Dies ended the tracing process with exit status 7"
    assert problem.printed == ("last words of torch.Size([1, 6])",)
    assert isinstance(trace(worker, "mypkg.Model"), Traced)


def test_timeout_stops_the_model(worker):
    problem = trace(worker, "mypkg.models.Hangs", timeout=3).problem
    assert problem.message == "tracing mypkg.models.Hangs took longer than 3 s and was stopped (option `timeout`)"
    assert problem.frames[-1].startswith("mypkg/models.py:")
    assert problem.frames[-1].endswith(" in forward")


def test_an_edited_source_is_traced_again(worker, tmp_path):
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


READS = """
import tempfile
from pathlib import Path

import torch
from torch import nn

folder = Path(__file__).parent
settings = (folder / "settings.txt").read_text()

def model():
    scratch = tempfile.NamedTemporaryFile("w+")
    (folder / "log.txt").write_text("made")
    (folder / "log.txt").read_text()
    (folder / "part.tmp").write_text("1")
    (folder / "part.tmp").replace(folder / "cache.txt")
    (folder / "cache.txt").read_text()
    torch.save({}, str(folder / "made.pt"))
    torch.load(folder / "made.pt")
    with open("/proc/self/status" if Path("/proc/self/status").exists() else scratch.name):
        return nn.Linear(4, int((folder / "width.txt").read_text()))

def other():
    (folder / "other.txt").read_text()
    return nn.Linear(4, 1)

def missing():
    return nn.Linear(4, int((folder / "width.txt").read_text() + "no number"))
"""


@pytest.fixture
def reading(tmp_path):
    (tmp_path / "reads_files.py").write_text(READS)
    (tmp_path / "others.py").write_text("import reads_files\n\ndef other():\n    return reads_files.other()\n")
    for name in ("settings", "width", "other"):
        (tmp_path / f"{name}.txt").write_text("3")
    return tmp_path


def test_files_that_the_code_of_a_model_reads_are_sources(worker, reading):
    def sources(model):
        answer = worker.trace(parse_options({"model": model, "inputs": "[1, 4]"}), [reading])
        return [Path(source).name for source in answer.sources]

    assert sources("others.other") == ["others.py", "reads_files.py", "other.txt", "settings.txt"]
    assert sources("reads_files.model") == ["reads_files.py", "settings.txt", "width.txt"]
    assert sources("reads_files.missing") == ["reads_files.py", "settings.txt", "width.txt"]


@pytest.mark.parametrize("value", [1e300, float("inf")])
def test_infinite_limits_are_clamped(monkeypatch, value):
    requests = []
    worker = Worker()
    refused = Refused(problem=Problem(kind="model", message="none"))
    monkeypatch.setattr(worker, "run", lambda request: requests.append(request) or refused)
    worker.trace(make_options(model="x.Y", timeout=value, memory=value))
    assert (requests[0].limits.seconds, requests[0].limits.gigabytes) == (1e6, 1e6)


def test_import_path_of_another_interpreter_excludes_our_libraries(monkeypatch, tmp_path):
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    library = Path(subprocess.__file__).parent
    zipped = library.parent / f"python{version.replace('.', '')}.zip"
    own = [str(library), str(library / "lib-dynload"), str(zipped), str(tmp_path)]
    monkeypatch.setattr(sys, "path", own)
    assert Worker("/other/bin/python")._import_path([]) == (str(tmp_path),)
    assert Worker()._import_path([]) == tuple(own)


def test_package_in_src_is_found_after_all_others(worker, tmp_path):
    (tmp_path / "src").mkdir()
    *_, last = worker._import_path([tmp_path])
    assert last == str(tmp_path / "src")
    (tmp_path / "src" / "laid_out.py").write_text("from torch import nn\nclass Net(nn.Identity):\n    pass\n")
    traced = worker.trace(make_options(model="laid_out.Net", inputs="[1, 4]"), [tmp_path])
    assert deserialize(traced.graph).model.class_ == "laid_out.Net"
    (tmp_path / "src" / "__init__.py").touch()
    assert str(tmp_path / "src") not in worker._import_path([tmp_path])


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("open('nowhere')", True),
        ("bytearray(10**12)", True),
        ("import os; os.kill(os.getpid(), 9)", True),
        ("1 / 0", False),
    ],
)
@pytest.mark.parametrize("where", ["__init__", "forward"])
def test_results_that_depend_on_a_file_limit_or_signal_may_differ(worker, tmp_path, program, expected, where):
    (tmp_path / "needy.py").write_text(
        f"from torch import nn\nclass Net(nn.Identity):\n    def {where}(self, *x):\n        {program}\n"
    )
    assert worker.trace(make_options(model="needy.Net", inputs=[1, 4]), [tmp_path]).may_differ is expected


def test_inputs_found_after_a_try_ran_out_of_memory_may_differ(worker, tmp_path):
    (tmp_path / "thrifty.py").write_text(
        "from torch import nn\nclass Net(nn.Linear):\n    tries = 0\n"
        "    def __init__(self):\n        super().__init__(4, 4)\n"
        "    def forward(self, x):\n        Net.tries += 1\n"
        "        return super().forward(x) if Net.tries > 2 else bytearray(10**12)\n"
    )
    traced = worker.trace(make_options(model="thrifty.Net", memory=2), [tmp_path])
    assert deserialize(traced.graph).status.state == "complete"
    assert traced.may_differ


def test_search_for_inputs_that_runs_out_of_memory_is_an_error_and_no_hierarchy(worker, tmp_path):
    (tmp_path / "greedy.py").write_text(
        "from torch import nn\nclass Net(nn.Linear):\n    def __init__(self):\n        super().__init__(4, 4)\n"
        "    def forward(self, x):\n        bytearray(10**12)\n"
    )
    refused = worker.trace(make_options(model="greedy.Net", memory=2), [tmp_path])
    assert refused.may_differ
    assert refused.problem.kind == "inputs"
    expected = "the search for inputs of greedy.Net ran out of memory (it may take 2 GB, see the option `memory`)"
    assert refused.problem.message == expected
