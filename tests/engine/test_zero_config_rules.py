"""The rules that fill in what an author did not say, each on its own."""

# ruff: noqa: ARG002, ARG005  (signatures are what is tested)
from __future__ import annotations

import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from modeldiagrams.options import parse_options
from modeldiagrams.target import record, resolve
from modeldiagrams.target.conventions import configuration_class, conventional_arguments
from modeldiagrams.target.forward import unpacked_parameters
from modeldiagrams.target.inferred import inferred_offers
from modeldiagrams.target.layers import layer_offers
from modeldiagrams.target.mend import mended, refused_width
from modeldiagrams.target.offered import configured_size, dummy_offers, example
from modeldiagrams.target.offers import ABSENT, Offer, named_sizes, resolved
from modeldiagrams.target.pretrained import configured_offers
from modeldiagrams.target.search import Tries, search
from modeldiagrams.target.vocabulary import role_of
from modeldiagrams.tracer import trace
from modeldiagrams.tracer.hierarchy import hierarchy_run


def first(offers):
    """The first candidate of every input."""
    return {name: options[0].entry for name, options in offers.items() if options[0] is not ABSENT}


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)


# rule 1 and 2: where a configuration comes from, and what is offered


@dataclass
class Settings:
    width: int = 4


def test_a_configuration_is_a_class_whose_fields_all_have_defaults():
    def built(config: Settings): ...
    def textual(cfg: Settings | None, width): ...
    def other(width: Settings): ...

    assert configuration_class(built) is Settings
    assert configuration_class(textual) is None
    assert configuration_class(other) is None


@pytest.mark.usefixtures("project")
def test_what_an_author_says_is_asked_before_anything_is_offered():
    target = resolve(parse_options({"model": "mypkg.models.Configured", "config": {"vocab_size": 7}}))
    assert not any(item.subject == "config" for item in target.assumptions)
    target = resolve(parse_options({"model": "mypkg.Model", "inputs": [3, 4]}))
    assert target.args[0].shape == (3, 4)
    assert target.assumptions == ()


def test_an_example_of_the_class_comes_before_that_of_lightning():
    class Both(Linear):
        example_input_array = torch.zeros(3, 4)

        @staticmethod
        def modeldiagrams_example():
            return torch.zeros(2, 4)

    sys.modules[__name__].Both = Both
    found = example(Both(), Both, f"{__name__}.Both")
    assert (found.args[0].shape, found.inputs_from) == ((2, 4), f"{__name__}.Both.modeldiagrams_example")


@pytest.mark.parametrize(
    ("value", "args", "kwargs"),
    [
        (torch.zeros(3, 4), 1, []),
        ((torch.zeros(3, 4), torch.zeros(1)), 2, []),
        ({"x": torch.zeros(3, 4)}, 0, ["x"]),
    ],
)
def test_lightnings_example_is_read_as_lightning_does(value, args, kwargs):
    model = Linear()
    model.example_input_array = value
    found = example(model, Linear, "Linear")
    assert (len(found.args), list(found.kwargs)) == (args, kwargs)


def test_dummy_inputs_count_only_where_they_are_the_models_own():
    class PreTrainedModel(Linear):
        @property
        def dummy_inputs(self):
            return {"x": torch.zeros(3, 4)}

    class Own(PreTrainedModel):
        @property
        def dummy_inputs(self):
            return {"x": torch.zeros(2, 4), "unknown": 1}

    assert dummy_offers(PreTrainedModel()) == {}
    assert first(dummy_offers(Own())) == {"x": [2, 4]}


@pytest.mark.parametrize("config", [{"input_size": (3, 48, 48)}, SimpleNamespace(input_size=(3, 48, 48))])
def test_a_size_as_timm_has_it(config):
    model = Linear()
    assert configured_size(model) == {}
    model.default_cfg = config
    assert first(configured_size(model)) == {"x": [1, 3, 48, 48]}


class Pretrained(nn.Module):
    """As in `transformers`: everything is optional."""

    def __init__(self, main, forward, **config):
        super().__init__()
        self.main_input_name = main
        self.config = SimpleNamespace(model_type="it", **config)
        self.forward = forward


class VisionConfig(SimpleNamespace):
    model_type = "inner"


def text_forward(input_ids=None, attention_mask=None, labels=None, decoder_input_ids=None, use_cache=None): ...
def image_forward(pixel_values=None, pixel_mask=None, **kwargs): ...
def sound_forward(input_features=None, decoder_input_ids=None): ...
def both_forward(input_ids=None, pixel_values=None): ...


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        (
            Pretrained("input_ids", text_forward, vocab_size=9, max_position_embeddings=8),
            {"input_ids": {"shape": [1, 8], "dtype": "int64", "high": 9}},
        ),
        (
            Pretrained("input_ids", text_forward, vocab_size=9, is_encoder_decoder=True),
            {name: {"shape": [1, 16], "dtype": "int64", "high": 9} for name in ("input_ids", "decoder_input_ids")},
        ),
        (Pretrained("pixel_values", image_forward, image_size=[6, 8], num_channels=1), {"pixel_values": [1, 1, 6, 8]}),
        (Pretrained("pixel_values", image_forward), {"pixel_values": [1, 3, "<size>", "<size>"]}),
        (
            Pretrained("pixel_values", image_forward, vision_config=VisionConfig(image_size=40)),
            {"pixel_values": [1, 3, 40, 40]},
        ),
        (
            Pretrained("input_features", sound_forward, num_mel_bins=20, max_source_positions=50),
            {"input_features": [1, 20, 100]},
        ),
    ],
)
def test_a_configuration_decides_the_first_candidates(model, inputs):
    assert first(next(configured_offers(model))) == inputs


def test_an_input_that_is_optional_is_left_out_first():
    offers, *_ = configured_offers(Pretrained("input_ids", both_forward, vocab_size=9))
    assert offers["pixel_values"][0] is ABSENT
    assert len(offers["pixel_values"]) > 1


@pytest.mark.usefixtures("project")
def test_a_large_configured_model_has_no_memory():
    target = resolve(parse_options({"model": "mypkg.models.Configured", "config": {"vocab_size": 10**7, "width": 64}}))
    assert all(parameter.is_meta for parameter in target.model.parameters())
    assert record(target).graph.status.mode == "meta"


# rule 3: conventions


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda num_classes, in_channels: 0, {"num_classes": 10, "in_channels": 3}),
        (lambda hidden_size, *, n_layers, bias=True: 0, {"hidden_size": 64, "n_layers": 2}),
        (lambda a, num_classes: 0, None),
        (lambda num_classes, /: 0, None),
        (lambda: 0, {}),
    ],
)
def test_required_parameters_take_values_by_name_or_none_do(function, arguments):
    assert conventional_arguments(function) == arguments


def test_annotations_decide_between_one_number_and_several():
    def one(depth: int, dropout: float): ...
    def several(depths: list[int], hidden_dims: tuple[int, ...]): ...
    def wrong(num_classes: str): ...

    assert conventional_arguments(one) == {"depth": 2, "dropout": 0.1}
    assert conventional_arguments(several) == {"depths": [2, 2], "hidden_dims": [16, 32]}
    assert conventional_arguments(wrong) is None


# rule 4: names, layers, source, search


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("attention_mask", "mask"),
        ("src", "ids"),
        ("Image", "image"),
        ("edge_index", "edges"),
        ("t", "time"),
        ("foo", None),
    ],
)
def test_names_tell_roles(name, role):
    assert getattr(role_of(name), "name", None) == role


@pytest.mark.parametrize(
    ("layer", "entry"),
    [
        (nn.Embedding(7, 2), {"shape": [1, "<length>"], "dtype": "int64", "high": 7}),
        (nn.Conv1d(2, 3, 1), [1, 2, "<length>"]),
        (nn.Conv2d(2, 3, 1), [1, 2, "<size>", "<size>"]),
        (nn.ConvTranspose2d(9, 3, 4), [1, 9, 1, 1]),
        (nn.Linear(5, 3), [1, 5]),
        (nn.LayerNorm(6), [1, 6]),
        (nn.LSTM(4, 3), ["<length>", 1, 4]),
        (nn.GRU(4, 3, batch_first=True), [1, "<length>", 4]),
    ],
)
def test_the_first_layer_tells_its_input(layer, entry):
    assert layer_offers(nn.Sequential(nn.ReLU(), layer))[0][1].entry == entry


def test_the_source_tells_what_is_taken_out_of_a_dict_or_tuple():
    class Model(nn.Module):
        def forward(self, batch, pair, x):
            a, b = pair
            return batch["image"] + batch.get("mask") + a + b + x[0]

    assert unpacked_parameters(Model()) == {"batch": ["image", "mask"], "pair": [0, 1]}


def test_candidates_of_a_forward_keep_its_order_and_leave_defaults_out():
    class Model(Linear):
        def forward(self, x, flag: bool, mask=None):
            return self.fc(x)

    (offers,) = inferred_offers(Model())
    assert list(offers) == ["x", "flag", "mask"]
    assert first(offers) == {"x": [1, 4], "flag": {"value": False}}


def test_named_sizes_are_shared_and_replaced():
    entry = {"a": [1, "<size>"], "b": {"shape": ["<length>"]}, "c": {"value": "<size>"}}
    assert named_sizes(entry["a"]) == {"<size>"}
    assert resolved(entry, {"<size>": 8, "<length>": 2}) == {
        "a": [1, 8],
        "b": {"shape": [2]},
        "c": {"value": "<size>"},
    }


def test_a_search_takes_the_first_that_works_and_tells_what_it_tried():
    tries = Tries()
    found = search(Linear(), {"x": [Offer([1, 3], "no"), Offer([1, 4], "yes"), Offer([2, 4], "late")]}, tries)
    assert found.entries == {"x": [1, 4]}
    assert [line.rpartition(": ")[2] for line in tries.lines][-1] == "works"


def test_a_search_is_the_same_every_time_and_ends():
    class Never(nn.Module):
        def forward(self, x):
            raise ValueError("never")

    runs = [Tries(), Tries()]
    offers = {"x": [Offer([1, n], "") for n in range(1, 200)]}
    assert [search(Never(), offers, tries) for tries in runs] == [None, None]
    assert runs[0].lines == runs[1].lines
    assert len(runs[0].lines) < 60


def test_an_output_that_depends_on_no_input_is_not_enough():
    class Constant(nn.Module):
        def forward(self, x):
            return torch.ones(2) * 2

    assert search(Constant(), {"x": [Offer([1, 2], "")]}, Tries()) is None


def test_a_search_leaves_model_and_random_state_as_they_were():
    model, state = Linear(), torch.get_rng_state()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    search(model, {"x": [Offer([1, 3], ""), Offer([1, 4], "")]}, Tries())
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert torch.equal(state, torch.get_rng_state())


def test_a_layer_that_refuses_its_input_tells_the_width():
    class Joined(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(18, 1)

        def forward(self, x):
            return self.fc(torch.cat([x, torch.zeros(1, 12)], 1))

    graph = trace(Joined(), (torch.zeros(1, 18),))
    assert refused_width(graph) == (30, 18)
    assert [offer.entry for offer in mended(Offer([1, 18], ""), 30, 18)] == [[1, 6]]
    assert [offer.entry for offer in mended(Offer([1, 24], ""), 192, 24)] == [[1, 3]]
    assert [*mended(Offer({"shape": [1, 24], "dtype": "int64"}, ""), 192, 24)] == []


# rule 5: the module hierarchy


class Stubborn(nn.Module):
    """No input will do."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU()))
        self.head = nn.Linear(3, 1, bias=False)

    def forward(self, secret):
        raise ValueError("not this one")


def test_modules_stand_in_the_order_of_registration_with_what_they_are():
    graph = hierarchy_run(Stubborn(), ("a note",)).graph
    graph.check()
    assert (graph.status.state, graph.status.mode, graph.status.notes) == ("hierarchy", None, ("a note",))
    assert [node.id for node in graph.nodes] == ["blocks", "blocks.0", "blocks.1", "blocks.1.0", "head"]
    assert graph.hierarchy["blocks.1.0"] == "blocks.1"
    assert graph.adjacency == {}
    assert graph.tensors == {}
    head = graph.nodes[-1]
    assert (head.parameters.total, head.attributes["bias"]) == (3, False)
    assert graph.model.parameters.total == 12


def test_a_model_without_inputs_shows_its_modules_and_which_option_to_write():
    target = resolve(parse_options({"model": f"{__name__}.Stubborn"}))
    graph = record(target).graph
    assert graph.status.state == "hierarchy"
    assert "write the option `inputs`, e.g. `inputs: {secret: [1, 8]}`" in graph.status.notes[0]
    assert target.tried
    assert target.assumptions[0].value == "5 (module hierarchy)"
