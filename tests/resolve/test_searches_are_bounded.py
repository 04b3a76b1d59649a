"""What finding inputs may cost: sixty passes of counted work for a model and all variants of it together."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import modeldiagrams
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import resolve
from modeldiagrams.resolve.inputs.budget import Budget
from modeldiagrams.resolve.inputs.candidate_search import CandidateSearch
from modeldiagrams.resolve.inputs.failure_search import FailureSearch
from modeldiagrams.resolve.inputs.probe import Probe
from modeldiagrams.resolve.names.candidates import Candidate
from modeldiagrams.tracer import trace
from modeldiagrams.tracer.recording.work_limit import Work, work_limited


class NeverRight(nn.Module):
    """Each pass fails at another size, so that there is always something to change."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(24, 8)
        self.second = nn.Linear(8, 8)

    def forward(self, left, right, third, fourth):
        x = self.first(left) + right.view(3, 5, -1) + third
        raise ValueError(f"sizes {x.shape[0]} and {fourth.shape[-1]} differ")


@pytest.fixture(scope="module")
def tried():
    return resolve(parse_options({"model": f"{__name__}.NeverRight"}).call).tried


def test_no_model_gets_more_tries_than_sixty(tried):
    assert 10 < len(tried) <= 60


def test_no_inputs_are_tried_twice(tried):
    shown = [line.partition(": ValueError")[0].partition(": RuntimeError")[0] for line in tried]
    assert len({*shown}) == len(shown)


def test_after_its_work_no_other_pass_begins():
    budget = Budget()
    budget.lines.append("")
    assert budget.left
    budget.work = 10**6
    assert not budget.left


def test_after_its_operations_no_other_pass_begins():
    budget = Budget(operations=10)
    with budget.limited():
        assert trace(nn.Linear(4, 4), (torch.zeros(1, 4),), mode="real").status.error is None
    budget.lines.append("")
    assert not budget.left


def test_the_first_pass_of_a_variant_is_made_however_late_it_is():
    late = Budget(operations=-1).of_variant(0)
    assert late.left
    late.lines.append("")
    assert not late.left


def test_all_variants_of_a_model_share_its_tries():
    budget = Budget()
    assert budget.without_variants().max_passes + 2 * budget.of_variant(0).max_passes == budget.max_passes


class LongRecurrence(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 2, batch_first=True)

    def forward(self, x):
        return self.rnn(x)[0]


def test_a_pass_on_fake_tensors_with_too_many_steps_ends(monkeypatch):
    probe = Probe(LongRecurrence())
    assert probe._run((torch.zeros(1, 100, 2),), {}, is_fake=True).error is None
    monkeypatch.setattr("modeldiagrams.resolve.inputs.probe._MOST_OPERATORS", 100)
    assert "too many steps" in probe._run((torch.zeros(1, 100, 2),), {}, is_fake=True).message


class CopyScores(nn.Module):
    """The index of a scatter has the size of what is scattered."""

    def __init__(self):
        super().__init__()
        self.score = nn.Linear(8, 1)

    def forward(self, memory, index):
        weights = self.score(memory).squeeze(-1).softmax(-1)
        return torch.zeros(memory.shape[0], 50).scatter_add(1, index, weights)


class Inpainting(nn.Module):
    """Arithmetic with a mask."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 8, 3)

    def forward(self, img, mask):
        return self.conv(torch.cat([img * (1 - mask), mask], dim=1))


@pytest.mark.parametrize("made", [CopyScores, Inpainting])
def test_what_a_failure_says_is_understood_within_few_tries(made):
    budget = Budget()
    assert next(FailureSearch(made().eval(), budget).solutions())
    assert len(budget.lines) <= 16


class TypedGraph(nn.Module):
    def __init__(self):
        super().__init__()
        self.node, self.edge = nn.Embedding(20, 8), nn.Embedding(4, 8)

    def forward(self, z, edge_index, edge_type):
        row, col = edge_index
        x = self.node(z)
        return x.index_add(0, col, x[row] + self.edge(edge_type))


def test_edges_are_pairs_also_where_ids_have_a_table_of_such_a_name():
    graph = modeldiagrams.trace(TypedGraph().eval())
    assert graph.status.error is None
    said = {item.subject: item.value for item in graph.assumptions}
    assert said["inputs.edge_index"].startswith("{shape: [2, 8]")


class Slow(nn.Module):
    """Each of its many steps is quick, and the whole pass isn't."""

    def __init__(self):
        super().__init__()
        self.linear, self.steps = nn.Linear(4, 4), 0

    def forward(self, x):
        for _ in range(3000):
            self.steps += 1
            x = self.linear(x)
        return x


@pytest.mark.parametrize("is_fake", [True, False])
def test_a_pass_of_a_search_ends_when_it_has_made_its_calls(is_fake):
    with work_limited(Work(calls=100)):
        probed = Probe(Slow())._run((torch.zeros(1, 4),), {}, is_fake=is_fake)
    assert "too much work" in probed.message
    assert 10 < probed.depth <= 101


@pytest.mark.parametrize("mode", ["fake", "real", "auto"])
def test_a_trace_within_a_search_ends_when_it_has_made_its_calls_and_a_later_one_does_not(mode):
    model, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.zeros(1, 4)
    with work_limited(Work(calls=0)):
        status = trace(model, (x,), mode=mode).status
    assert status.error.type == "PassTooLargeError"
    assert trace(model, (x,), mode=mode).status.error is None


def test_only_passes_with_values_have_operations():
    model, x = nn.Sequential(nn.Linear(40, 40), nn.ReLU()), torch.zeros(1, 40)
    fake, real = Work(calls=1000, operations=100), Work(calls=1000, operations=100)
    with work_limited(fake):
        assert trace(model, (x,), mode="fake").status.error is None
    assert fake.operations == 100
    with work_limited(real):
        assert trace(model, (x,), mode="real").status.error.type == "PassTooLargeError"


@torch.library.custom_op("test_budget::kept", mutates_args=())
def kept(scores: torch.Tensor) -> torch.Tensor:
    return scores.nonzero()[:, 0]


@kept.register_fake
def _(scores):
    return scores.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.int64)


class Detector(nn.Module):
    """How many boxes there are depends on their values, as a library's operator says."""

    def __init__(self):
        super().__init__()
        self.score = nn.Conv2d(3, 1, 1)

    def forward(self, image):
        scores = self.score(image).flatten()
        return scores[kept(scores)].mean()


def test_a_model_that_asks_for_values_gets_them_though_no_operations_are_left():
    budget = Budget(operations=-1)
    found = CandidateSearch(Detector().eval(), {"image": [Candidate([1, 3, 8, 8], "")]}, budget).more(3)
    assert [line.partition("(")[2].partition(")")[0] for line in budget.lines] == ["fake", "real"]
    assert found is not None


def test_what_fails_for_other_reasons_gets_no_pass_with_values_then():
    budget = Budget(operations=-1)
    assert CandidateSearch(nn.Linear(4, 4), {"input": [Candidate([1, 5], "")]}, budget).more(3) is None
    assert len(budget.lines) == 1
