"""What the use of lists, keys, twins and settings shows about arguments and inputs."""

from __future__ import annotations

import sys

import pytest
import torch
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.target import record, resolve
from modeldiagrams.target.inference.budget import Budget
from modeldiagrams.target.inference.constructor import solved_arguments
from modeldiagrams.target.inference.input_solver import InputSolver
from modeldiagrams.target.inference.lookups import is_lookup
from modeldiagrams.target.inference.probing import Probe
from modeldiagrams.target.inference.search import is_connected


def target_of(made):
    target = resolve(parse_options({"model": f"{__name__}.{made.__name__}"}).call)
    assert is_connected(record(target).graph)
    return target


class Depth(nn.Module):
    def __init__(self, layers: tuple[int, int] | int, width: int):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])


def test_a_number_that_may_be_a_list_is_a_number():
    assert solved_arguments(Depth).kwargs["layers"] == 2


class Looped(nn.Module):
    def __init__(self, sizes: list, width):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(sizes)])


def test_a_list_that_only_a_number_can_be_is_one():
    assert isinstance(solved_arguments(Looped).kwargs["sizes"], int)


class Settings(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.device, self.optimizer, self.rate = args.device, args.optimizer, args.lr
        self.with_attention = args.output_attention
        self.layer = nn.Linear(args.expert_dim, args.n_experts * args.expert_dim)


def test_settings_that_nothing_uses_have_the_meaning_of_their_names():
    said = solved_arguments(Settings).kwargs["args"]
    assert (said["device"], said["optimizer"], said["lr"]) == ("cpu", "adam", 0.001)
    assert said["output_attention"] is False
    assert (said["expert_dim"], said["n_experts"]) == (32, 4)


class Numbered(nn.Module):
    def __init__(self, dataset):
        super().__init__()
        self.layer = nn.Linear(dataset, 2)


def test_what_goes_by_the_name_of_a_string_may_be_a_number():
    assert isinstance(solved_arguments(Numbered).kwargs["dataset"], int)


class Tasks(nn.Module):
    """A name that only methods compare: kept as it is, or with the configuration that has it."""

    def __init__(self, task_name, cfg):
        super().__init__()
        self.task_name, self.cfg = task_name, cfg
        self.layer = nn.Linear(cfg.width, 4)

    def pooled(self, x):
        return x.mean(1) if self.cfg.pooling_name in ("avg", "mean") else None

    def forward(self, x):
        if self.task_name == "tide":
            return self.layer(self.pooled(x))
        return self.layer(x[:, 0]) if self.task_name == "storm" else None


def test_strings_that_methods_compare_are_what_a_name_may_be():
    kwargs = {assumed.subject: assumed.value for assumed in target_of(Tasks).assumptions}
    assert kwargs["kwargs.task_name"] == "tide"
    assert "pooling_name: avg" in kwargs["kwargs.cfg"]


class LinkEncoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, 8)

    def forward(self, x, edges):
        return self.layer(x).index_add(0, edges[1], self.layer(x[edges[0]]))


class Links(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def encode(self, *args, **kwargs):
        return self.encoder(*args, **kwargs)

    def forward(self, x, train_pos_edge_index, edge_label_index):
        z = self.encode(x, train_pos_edge_index)
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1)


def test_a_part_that_gets_whatever_a_method_gets_may_have_several_inputs():
    target = target_of(Links)
    assert type(target.model.encoder) is LinkEncoder
    assert [len(target.kwargs[name]) for name in ("train_pos_edge_index", "edge_label_index")] == [2, 2]


class Columns(nn.Module):
    """Takes its inputs by names that it was given."""

    def __init__(self, dense_features, width):
        super().__init__()
        self.dense_features = dense_features
        self.out = nn.Linear(len(dense_features), width)

    def forward(self, features):
        return self.out(torch.cat([features[name].float().unsqueeze(-1) for name in self.dense_features], dim=-1))


def test_names_that_look_up_inputs_are_strings():
    target = target_of(Columns)
    assert {*target.kwargs["features"]} == {"dense_feature0", "dense_feature1"}


class Pyramid(nn.Module):
    """Takes one input for each of its parts."""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([nn.Conv2d(3, 4, 1) for _ in range(3)])

    def forward(self, inputs):
        output = self.heads[0](inputs[0])
        for i in range(1, len(self.heads)):
            output = output + self.heads[i](inputs[i])
        return output


class TwoPictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        return self.conv(x[0]) - self.conv(x[1])


class FirstRow(nn.Module):
    """Takes the first of a batch: of a tensor."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x):
        return self.layer(x[0])


@pytest.mark.parametrize(("made", "count"), [(Pyramid, 3), (TwoPictures, 2)])
def test_what_is_only_taken_by_number_for_the_parts_of_a_model_is_a_list(made, count):
    target = target_of(made)
    (given,) = target.kwargs.values()
    assert isinstance(given, list)
    assert len(given) == count
    assert len(target.tried) <= 3  # of which the last one has usual sizes


def test_what_is_taken_by_one_number_is_a_tensor():
    assert isinstance(target_of(FirstRow).kwargs["x"], torch.Tensor)


class Twins(nn.Module):
    """Embeds two items in the same way."""

    def __init__(self):
        super().__init__()
        self.title, self.price = nn.Embedding(30, 8), nn.Linear(1, 8)

    def embed(self, item):
        return self.title(item["title_ids"]).mean(1) + self.price(item["price"])

    def forward(self, left, right):
        return self.embed(left) * self.embed(right)


def test_inputs_that_the_same_code_reads_are_alike():
    budget = Budget()
    found = next(InputSolver(Twins().eval(), budget).solutions()).entries
    assert found["left"] == found["right"]
    assert {*found["left"]} == {"title_ids", "price"}


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 4, batch_first=True)

    def forward(self, x):
        assert not isinstance(x, torch._subclasses.FakeTensor)
        return self.rnn(x)[0]


def test_small_recurrent_models_run_with_values_which_is_faster():
    assert Probe(Recurrent()).run({"x": [1, 5, 4]}).error is None


class EdgeScores(nn.Module):
    """Reads both rows of its edges by number."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(16, 1)

    def forward(self, x, edge_index):
        return self.out(torch.cat([x[edge_index[0]], x[edge_index[1]]], dim=-1))


def test_edges_stay_one_tensor():
    assert target_of(EdgeScores).kwargs["edge_index"].shape[0] == 2


SCALES = torch.ones(3)


class Scaled(nn.Module):
    """Asks for the values of a tensor that the whole project shares."""

    def __init__(self, width):
        super().__init__()
        self.scale, self.layer = torch.as_tensor(SCALES).sum().item(), nn.Linear(width, 3)

    def forward(self, x):
        return self.layer(x) * self.scale


def test_tensors_of_the_project_stay_as_they_are():
    assert solved_arguments(Scaled).kwargs == {"width": 64}
    assert not vars(SCALES)


class Watched(str):
    """Tells in which ways it is compared."""

    __slots__ = ()
    ways: list[bool] = []  # noqa: RUF012

    def __hash__(self):
        return 1

    def __eq__(self, other):
        self.ways.append(is_lookup(sys._getframe(1)))
        return True


class Other:
    def __hash__(self):
        return 1


def test_keys_of_a_subscript_are_looked_up():
    key = Watched("a")
    assert {Other(): 2}[key] == 2
    assert key == "b"
    assert Watched.ways == [True, False]
