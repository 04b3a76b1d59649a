"""The option `vocabulary`: what names mean in one project comes before what they usually mean."""

from __future__ import annotations

import pytest
from torch import nn

from modeldiagrams.errors import TargetError
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.options.settings import parse_settings
from modeldiagrams.resolve import resolve
from modeldiagrams.resolve.names.vocabulary import PROJECT, list_numbers, list_usual_values

VOCABULARY = {
    "arguments": {"vocab_size": 77, "n_?words": 55, "widths": [3, 5], "cell": "gru", "ratio": 6},
    "inputs": {"ids": {"shape": [2, 9], "dtype": "int64", "high": 20}, "steps": {"value": 3}},
}


class Known(nn.Module):
    def __init__(self, vocab_size, widths: list[int]):
        super().__init__()
        self.table, self.layer = nn.Embedding(vocab_size, widths[0]), nn.Linear(widths[0], widths[1])

    def forward(self, ids, steps: int):
        x = self.table(ids)
        return sum(self.layer(x) for _ in range(steps))


class Partly(nn.Module):
    """Only use tells what `zyx` is, and what the configuration has."""

    def __init__(self, nWords, zyx, cfg):  # noqa: N803
        super().__init__()
        self.table = nn.Embedding(nWords, zyx)
        self.cell = {"lstm": nn.LSTM, "gru": nn.GRU}[cfg.cell](zyx, zyx * cfg.ratio)

    def forward(self, ids):
        return self.cell(self.table(ids))[0]


class Pyramid(nn.Module):
    def __init__(self, pyramid, widths: list[int]):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear(size, size) for size in pyramid if size == widths[0]))

    def forward(self, x):
        return self.layers(x)


def said_of(name, **options):
    target = resolve(parse_options({"model": f"{__name__}.{name}", **options}).call)
    assert target.note is None
    return {item.subject: (item.value, item.reason) for item in target.assumptions}


def test_names_of_the_project_come_first():
    said = said_of("Known", vocabulary=VOCABULARY)
    assert said["kwargs.vocab_size"] == ("77", PROJECT)
    assert said["kwargs.widths"] == ("[3, 5]", PROJECT)
    assert said["inputs.ids"] == ("{shape: [2, 9], dtype: int64, high: 20}", PROJECT)
    assert said["inputs.steps"] == ("{value: 3}", PROJECT)
    assert said_of("Known", kwargs={"vocab_size": 5, "widths": [1, 2]})["inputs.ids"][1] != PROJECT


def test_use_decides_on_what_the_vocabulary_leaves_open():
    said = said_of("Partly", vocabulary=VOCABULARY)
    assert said["kwargs.nWords"] == ("55", PROJECT)
    assert said["kwargs.cfg"][0] == "{_target_: types.SimpleNamespace, cell: gru, ratio: 6}"
    assert "layers have it as" in said["kwargs.zyx"][1]


def test_explicit_options_come_before_it():
    said = said_of(
        "Known", vocabulary=VOCABULARY, inputs={"ids": {"shape": [1, 4], "dtype": "int64"}, "steps": {"value": 1}}
    )
    assert "inputs.ids" not in said


def test_it_holds_for_one_diagram_only():
    said_of("Known", vocabulary=VOCABULARY)
    assert said_of("Known", kwargs={"vocab_size": 100, "widths": [3, 5]})["inputs.ids"][1] != PROJECT


def test_input_that_can_not_be_made_names_the_option():
    with pytest.raises(TargetError, match=r"option `vocabulary`, inputs.ids: expected a dtype"):
        said_of("Known", vocabulary={"inputs": {"ids": {"shape": [1], "dtype": "int46"}}})


def test_site_sets_it_for_all_diagrams():
    settings = parse_settings({"defaults": {"vocabulary": VOCABULARY}})
    assert parse_options({"model": "a.B"}, settings.options).call.vocabulary == VOCABULARY


def test_lists_may_have_any_name_and_what_does_not_fit_is_not_said_to_be_its_value():
    said = said_of("Pyramid", vocabulary={"arguments": {"pyramid": [8, 4], "widths": 7}})
    assert said["kwargs.pyramid"] == ("[8, 4]", PROJECT)
    assert said["kwargs.widths"][0] != "7"
    assert said["kwargs.widths"][1] == "a usual value for this name"


@pytest.mark.parametrize(
    ("name", "held_as", "first"),
    [
        ("num_key_value_heads", {"out_features"}, 4),  # of a product with it
        ("num_downs", (), 4),
        ("pixel_mean", (), 0.0),
        ("width_coefficient", (), 1.0),
        ("rgb_range", (), 1.0),
        ("upsample_rates", {"stride"}, 2),
    ],
)
def test_numbers_are_what_a_person_would_take(name, held_as, first):
    assert list_numbers(name, held_as, is_item=False)[0] == first


@pytest.mark.parametrize(
    ("name", "is_network"), [("encoder", True), ("encoder_layer", False), ("encoder_block", False)]
)
def test_a_layer_of_an_encoder_is_no_network_for_pictures(name, is_network):
    assert ("torchvision.models.resnet18" in list_usual_values("classes", name)) is is_network
