"""What is found in further passes: which sizes are free, up to where, and that nothing else changes."""

from __future__ import annotations

import copy

import msgspec
import pytest
import torch
from torch import Tensor, nn

from modeldiagrams import OptionError, load, trace
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.resolve.dimensions import probe, sized_passes


class Positions(nn.Module):
    """Has as many positions as a model that it stands for."""

    def __init__(self, rows: int = 64, offset: int = 0, *, checks: bool = False) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(100, 8), nn.Embedding(rows, 8)
        self.offset, self.checks = offset, checks

    def forward(self, input_ids: Tensor) -> Tensor:
        length = input_ids.shape[1]
        if self.checks:
            assert length <= 40, f"got {length} tokens, and there may be 40"
        return self.words(input_ids) + self.positions(torch.arange(length) + self.offset)


class Changing(nn.Module):
    """Changes itself in each pass."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.calls, self.cache = nn.BatchNorm1d(4), 0, []

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.cache.append(x)
        return nn.functional.dropout(self.norm(x), 0.5)


class Folded(nn.Module):
    """Has a size of images in its code."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = nn.Conv2d(3, 8, 3, 2, 1), nn.Linear(8 * 14 * 14, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.conv(x).view(-1, 8 * 14 * 14))


def tokens(length: int = 16) -> tuple[Tensor]:
    return (torch.zeros(2, length, dtype=torch.int64),)


def sizes_of(model, args, dims="auto"):
    found = trace(model.eval(), args, dims=dims).sizes
    assert found is not None
    return found


def test_the_drawn_graph_is_the_same():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(8 * 30 * 30, 4))
    named, plain = (trace(model, (torch.zeros(2, 3, 32, 32),), dims=dims) for dims in ("auto", None))
    assert named.sizes is not None
    assert named.sizes.sizes
    assert serialize(msgspec.structs.replace(named, sizes=None)) == serialize(plain)


def test_the_model_is_the_same_after_all_passes():
    model = Changing().train()
    before, state = copy.deepcopy(model.state_dict()), torch.random.get_rng_state()
    found = trace(model, (torch.zeros(2, 4),), dims="auto").sizes
    assert found is not None
    assert len(found.checked) > 1
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert (model.calls, model.cache) == (0, [])
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize(
    ("model", "at_most", "limit"),
    [
        (Positions(64), 64, "positions.weight"),
        (Positions(2050, offset=2), 2048, "positions.weight"),
        (Positions(20), 20, "positions.weight"),
        (Positions(500, checks=True), 40, "got"),
    ],
    ids=["rows", "offset", "a few more", "its words"],
)
def test_limits_are_found(model, at_most, limit):
    size = sizes_of(model, tokens()).sizes["T"]
    assert size.at_most == at_most
    assert limit in size.limit
    model(*tokens(at_most))
    with pytest.raises((AssertionError, IndexError)):
        model(*tokens(at_most + 1))


def test_tokens_alone_have_no_limit():
    assert sizes_of(nn.Embedding(64, 8), tokens()).sizes["T"].at_most is None


def test_what_folds_into_the_batch_is_fixed():
    found = sizes_of(Folded(), (torch.zeros(2, 3, 28, 28),), {"x": ["B", 3, "H", "W"]})
    assert "goes into B" in found.sizes["H"].fixed
    assert "goes into B" in found.sizes["W"].fixed
    assert not found.sizes["B"].fixed
    assert found.tensors["head/linear:0"] == ("B", None)


def test_the_models_own_words_say_why_a_size_is_fixed():
    class Checked(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            if x.shape[1] != 16:
                raise ValueError(f"expected 16 steps, got {x.shape[1]}")
            return x * 2

    found = sizes_of(Checked(), (torch.zeros(2, 16, 4),))
    assert found.sizes["T"].fixed.startswith("ValueError: expected 16 steps, got")
    assert "test_further_passes.py" in found.sizes["T"].fixed
    assert found.tensors["/mul:0"] == ("B", None, None)


def test_sizes_by_values_get_no_expression():
    class Picks(nn.Module):
        def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
            return x[mask] * 2, x.sum(1)

    mask = torch.ones(2, 6, dtype=torch.bool)
    found = sizes_of(Picks(), (torch.zeros(2, 6, 8), mask))
    assert found.unknown["/mul:0"] == "depends on values"
    assert "/mul:0" not in found.tensors
    assert found.tensors["/sum:0"] == ("B", None)


def test_costs_of_overlapping_steps_are_exact():
    found = sizes_of(nn.Conv2d(3, 8, 3, 2, 3), (torch.zeros(2, 3, 64, 64),))
    assert found.tensors["/conv2d:0"] == ("B", None, "H/2+2", "W/2+2")
    assert found.sizes["H"].multiple_of == 2


def test_long_models_are_not_run_again_unless_asked():
    class Long(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            for _ in range(sized_passes._MOST_CALLS // 2):
                x = x + 1
            return x

    found = sizes_of(Long(), (torch.zeros(2, 4),))
    assert found.tensors == {}
    assert "dims" in found.notes[0]


def test_real_passes_say_why_there_are_no_names():
    found = trace(nn.Linear(4, 4), (torch.zeros(2, 4),), mode="real", dims="auto").sizes
    assert found is not None
    assert (found.sizes, found.tensors) == ({}, {})
    assert "real values" in found.notes[0]


def test_a_fault_costs_no_graph(monkeypatch, tmp_path):
    def fail(*_):
        raise KeyError("a fault")

    monkeypatch.setattr(probe, "fit_sizes", fail)
    graph = trace(nn.Linear(4, 4), (torch.zeros(2, 4),), dims="auto")
    assert graph.status.state == "complete"
    assert graph.sizes is not None
    assert "a fault" in graph.sizes.notes[0]
    (tmp_path / "graph.json").write_bytes(serialize(graph))
    assert load(tmp_path / "graph.json").sizes == graph.sizes


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        ({"y": ["B"]}, "y"),
        ({"input": ["B", "C", "D"]}, "2"),
        ("none", "expected a map"),
        ("off", "leave it out"),
    ],
)
def test_wrong_dims_are_refused(dims, message):
    with pytest.raises(Exception, match=message) as raised:
        trace(nn.Linear(4, 4), (torch.zeros(2, 4),), dims=dims)
    assert "dims" in str(raised.value)


def test_several_cases_have_no_names():
    with pytest.raises(OptionError, match="several cases"):
        trace(nn.Linear(4, 4), (torch.zeros(2, 4),), cases={"one": {}, "two": {"training": True}}, dims="auto")
