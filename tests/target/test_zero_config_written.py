"""What was found, as an author would write it: pasted as options, it gives the same graph."""

# ruff: noqa: ARG002  (signatures are what is tested)
from __future__ import annotations

import textwrap

import msgspec
import pytest
import torch
import yaml
from torch import nn

import inference_zoo
import tinymodels
from modeldiagrams.api.explain import collect_options, explain
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.options.reading import yaml_line
from modeldiagrams.target import record, resolve
from modeldiagrams.target.as_options import entry_of, is_plain
from modeldiagrams.target.inputs import from_entries


def graph_of(options):
    """The graph, with what was assumed, as the tracing process makes it."""
    target = resolve(options.call)
    return msgspec.structs.replace(record(target).graph, assumptions=target.assumptions)


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)


class ByName(Layers):
    def forward(self, x, scale=2.0):
        return self.fc(x) * scale


class Nameless(Layers):
    def forward(self, x, /):
        return self.fc(x)


class Several(Layers):
    def forward(self, *xs):
        return sum(map(self.fc, xs))


class Mixed(Layers):
    """A position and a name: neither a list nor a plain map can say that."""

    def forward(self, *xs, mask, flag=False):
        return sum(map(self.fc, xs)) * mask.float().mean()


class PositionalAndKeyword(Layers):
    def forward(self, x, /, mask):
        return self.fc(x) * mask.float().mean()


class Example(Layers):
    example_input_array = (torch.zeros(2, 4), (torch.ones(2, 3), torch.zeros(1, dtype=torch.int64)))

    def forward(self, x, pair):
        return self.fc(x) + pair[0] + pair[1]


class WithExample(Layers):
    @staticmethod
    def modeldiagrams_example():
        return {0: torch.zeros(2, 4), "scale": 3.0}

    def forward(self, x, /, scale):
        return self.fc(x) * scale


class Unwritable(Layers):
    """Its example holds an object that YAML has no words for."""

    example_input_array = (torch.zeros(2, 4), object())

    def forward(self, x, thing):
        return self.fc(x)


@pytest.mark.parametrize(
    "model",
    [ByName, Nameless, Several, Mixed, PositionalAndKeyword, Example, WithExample, Unwritable],
)
def test_assumptions_written_as_options_give_the_same_graph(model):
    first = parse_options({"model": f"{__name__}.{model.__name__}"})
    graph = graph_of(first)
    assert graph.status.state == "complete"
    again = graph_of(pasted_options(explain(first.call, graph, ())))
    assert msgspec.structs.replace(again, assumptions=graph.assumptions) == graph
    assert model is Unwritable or not again.assumptions


ZOO = ["hard_objects.TwoTower", "hard_objects.ResNet", "hard_objects.Nested", "hard_objects.HParamsNet"]
ZOO += ["hard_objects.Backboned", "hard_inputs.DictInput", "hard_inputs.MaskedPool", "hard_inputs.Flagged"]
TINY = [f"{tinymodels.__name__}.{name}" for name in ("Block", "Net", "Chatty")]


@pytest.mark.parametrize("path", [*(f"{inference_zoo.__name__}.{name}" for name in ZOO), *TINY])
def test_all_kinds_of_values_can_be_pasted(path):
    """Nested configurations, classes of blocks, modules, dicts, dtypes."""
    first = parse_options({"model": path})
    graph = graph_of(first)
    pasted = pasted_options(explain(first.call, graph, ()))
    again = graph_of(pasted)
    assert not again.assumptions
    assert msgspec.structs.replace(again, assumptions=graph.assumptions) == graph


def pasted_options(explained):
    """As a directive reads them, where every option is text; a fence reads the same."""
    rst, fence = (
        explained.partition(f"{title}:\n")[2].partition("\n\n")[0].splitlines()
        for title in ("reStructuredText", "Markdown")
    )
    options = dict(line.strip()[1:].split(": ", 1) for line in rst[1:])
    found = parse_options({"model": rst[0].split()[-1], **options})
    assert parse_options(yaml.safe_load(textwrap.dedent("\n".join(fence[1:-1])))) == found
    return found


def test_inputs_are_a_map_with_positions_only_if_some_have_names():
    found = {
        model: collect_options(
            (options := parse_options({"model": f"{__name__}.{model.__name__}"})).call, graph_of(options)
        )
        for model in (Several, Mixed, ByName)
    }
    assert found[Several]["inputs"] == [[1, 4]]
    assert found[ByName]["inputs"] == {"x": [1, 4]}
    assert list(found[Mixed]["inputs"]) == [0, "mask"]


@pytest.mark.parametrize(
    "value",
    [torch.zeros(2, 3), torch.zeros((), dtype=torch.float64), torch.tensor([[3, 9]]), torch.tensor([True, True])],
)
def test_entry_makes_a_tensor_like_the_one_it_describes(value):
    (made,), _ = from_entries([entry_of(value)])
    assert (made.shape, made.dtype) == (value.shape, value.dtype)
    if not value.is_floating_point():
        assert made.min() >= value.min()
        assert made.max() <= value.max()


@pytest.mark.parametrize("value", ["text", None, 3, [1, 2.5], {"a": "b"}])
def test_entry_makes_the_plain_value_again(value):
    (made,), _ = from_entries([entry_of(value)])
    assert made == value


@pytest.mark.parametrize(
    "value",
    [object(), torch.eye(2).to_sparse(), {"shape": torch.ones(1)}, {"value": torch.ones(1)}, [torch.ones(1), {1, 2j}]],
)
def test_values_without_an_entry_are_not_plain(value):
    assert not is_plain(entry_of(value))


def test_text_is_yaml_on_one_line():
    assert yaml_line({"shape": [1, 16], "dtype": "int64", "high": 9}) == "{shape: [1, 16], dtype: int64, high: 9}"
    assert yaml_line(10) == "10"
    assert "\n" not in yaml_line(list(range(1000)))
