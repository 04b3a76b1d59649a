"""What a configuration leaves open by default, and no pass can do without."""

from __future__ import annotations

from types import SimpleNamespace

from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import resolve
from modeldiagrams.resolve.libraries.factories import list_missing_values


class RoutedConfig:
    model_type = "routed"

    def __init__(self, num_experts_per_tok=None, num_hidden_layers=6):
        self.num_experts_per_tok = num_experts_per_tok
        self.num_hidden_layers = num_hidden_layers


class Routed(nn.Module):
    """The number of experts that a token goes to is left open, as `DeepseekV2Config` does."""

    config_class = RoutedConfig
    main_input_name = "input_ids"

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(9, 8)
        self.layers = nn.Sequential(*[nn.Linear(8, 8) for _ in range(config.num_hidden_layers)])

    def forward(self, input_ids=None):
        return self.layers(self.embedding(input_ids)).topk(k=self.config.num_experts_per_tok).values


class DeepRouted(Routed):
    """Nor can it be run at full size."""

    def forward(self, input_ids=None):
        assert len(self.layers) < 4, "too deep"
        return super().forward(input_ids)


def target_of(model):
    return resolve(parse_options({"model": f"{__name__}.{model.__name__}"}).call)


def test_what_no_pass_can_do_without_is_set_also_in_nested_configurations_and_nothing_else():
    inside = SimpleNamespace(model_type="inner", num_experts_per_tok=None, depth=None)
    config = SimpleNamespace(num_experts_per_tok=6, moe_topk=None, head_dim=None, text_config=inside)
    assert list_missing_values(config) == {
        "moe_topk": 2,
        "text_config": {"model_type": "inner", "num_experts_per_tok": 2},
    }
    assert list_missing_values({}) == {}


def test_number_of_experts_that_a_configuration_leaves_open_is_assumed_and_layers_stay():
    target = target_of(Routed)
    assert target.note is None
    assert len(target.model.layers) == 6
    assumption = next(item for item in target.assumptions if item.subject == "config")
    assert (assumption.value, assumption.reason) == ("{num_experts_per_tok: 2}", "RoutedConfig has None by default")


def test_fewer_layers_keep_what_no_pass_can_do_without():
    target = target_of(DeepRouted)
    assert target.note is None
    assert len(target.model.layers) == 2
    assumption = next(item for item in target.assumptions if item.subject == "config")
    assert assumption.value == "{num_experts_per_tok: 2, num_hidden_layers: 2}"
