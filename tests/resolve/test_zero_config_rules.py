"""The rules that fill in what an author did not say, each on its own.

Long because it is a list of cases, each with a small model of its own.
"""

# ruff: noqa: ARG002, ARG005  (signatures are what is tested)
from __future__ import annotations

import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from modeldiagrams.ir.check import check_graph
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import infer, record, resolve
from modeldiagrams.resolve.code.forward import Part, unpacked_parameters
from modeldiagrams.resolve.inputs.budget import Budget
from modeldiagrams.resolve.inputs.candidate_search import refused_width, repaired, search
from modeldiagrams.resolve.inputs.inferred import inferred_candidates
from modeldiagrams.resolve.inputs.layers import layer_candidates
from modeldiagrams.resolve.libraries.class_examples import (
    class_example,
    configured_image,
    dummy_candidates,
    resized_images,
)
from modeldiagrams.resolve.libraries.huggingface import configured_candidates
from modeldiagrams.resolve.names.candidates import ABSENT, Candidate, named_sizes, resolved
from modeldiagrams.resolve.names.conventions import configuration_class, conventional_arguments, unset_fields
from modeldiagrams.resolve.names.roles import role_of
from modeldiagrams.resolve.values.tensors import from_entries
from modeldiagrams.tracer import trace
from modeldiagrams.tracer.graph.build_graph import module_tree


def first(candidates):
    """The first candidate of every input."""
    return {name: options[0].entry for name, options in candidates.items() if options[0] is not ABSENT}


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


def test_configuration_class_has_defaults_for_all_fields():
    def built(config: Settings): ...
    def textual(cfg: Settings | None, width): ...
    def other(width: Settings): ...

    assert configuration_class(built) is Settings
    assert configuration_class(textual) is None
    assert configuration_class(other) is None


@pytest.mark.usefixtures("project")
def test_options_come_before_candidates_of_the_class():
    target = resolve(parse_options({"model": "mypkg.models.Configured", "config": {"vocab_size": 7}}).call)
    assert not any(item.subject == "config" for item in target.assumptions)
    target = resolve(parse_options({"model": "mypkg.Model", "inputs": [3, 4]}).call)
    assert target.args[0].shape == (3, 4)
    assert target.assumptions == ()


def test_modeldiagrams_example_comes_before_lightnings():
    class Both(Linear):
        example_input_array = torch.zeros(3, 4)

        @staticmethod
        def modeldiagrams_example():
            return torch.zeros(2, 4)

    sys.modules[__name__].Both = Both
    found = class_example(Both(), Both, f"{__name__}.Both")
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
    found = class_example(model, Linear, "Linear")
    assert (len(found.args), list(found.kwargs)) == (args, kwargs)


def test_inherited_dummy_inputs_are_ignored():
    class PreTrainedModel(Linear):
        @property
        def dummy_inputs(self):
            return {"x": torch.zeros(3, 4)}

    class Own(PreTrainedModel):
        @property
        def dummy_inputs(self):
            return {"x": torch.zeros(2, 4), "unknown": 1}

    assert dummy_candidates(PreTrainedModel()) == {}
    assert first(dummy_candidates(Own())) == {"x": [2, 4]}


@pytest.mark.parametrize("config", [{"input_size": (3, 48, 48)}, SimpleNamespace(input_size=(3, 48, 48))])
def test_timm_configuration_sets_the_image_size(config):
    model = Linear()
    assert configured_image(model) == {}
    model.default_cfg = config
    assert first(configured_image(model)) == {"x": [1, 3, 48, 48]}


class Detector(nn.Module):
    """As in torchvision: a list of images of any size, resized inside."""

    def __init__(self):
        super().__init__()
        self.transform = nn.Identity()
        self.body = nn.Conv2d(3, 4, 3)

    def forward(self, images: list[torch.Tensor], targets=None):
        batch = nn.functional.interpolate(torch.stack(images), self.transform.min_size * 2)
        return self.body(batch)


def test_detector_that_resizes_its_images_gets_a_list_of_one():
    model = Detector()
    assert resized_images(model) == {}
    model.transform.image_mean, model.transform.min_size = [0.5, 0.5, 0.5], (40,)
    assert first(resized_images(model)) == {"images": [[3, 32, 32]]}
    args, kwargs = from_entries(first(resized_images(model)))
    assert model(*args, **kwargs).shape == (1, 4, 38, 38)


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
            Pretrained("pixel_values", image_forward, num_queries=300, feat_strides=[8, 16, 32]),
            {"pixel_values": [1, 3, 128, 128]},
        ),
        (
            Pretrained("input_features", sound_forward, num_mel_bins=20, max_source_positions=50),
            {"input_features": [1, 20, 100]},
        ),
    ],
)
def test_configuration_decides_the_first_candidates(model, inputs):
    assert first(next(configured_candidates(model))) == inputs


def test_patches_come_with_a_grid_of_as_many_also_in_one_image_and_languages_are_counted_from_the_first():
    def forward(hidden_states, grid_thw, lang_ids=None): ...

    candidates, *_ = configured_candidates(Pretrained("hidden_states", forward, patch_size=2, vocab_size=9))
    count = candidates["hidden_states"][0].entry[0]
    grids, _ = from_entries([candidate.entry for candidate in candidates["grid_thw"]])
    assert [grid.shape for grid in grids] == [(1, 3), (1, 3)]
    assert [int(grid.prod()) for grid in grids] == [count, count]
    assert [int(grid[0, 0]) for grid in grids] == [4, 1]
    assert [candidate.entry for candidate in candidates["lang_ids"]][1:] == [
        {"shape": [1], "dtype": "int64", "high": 1}
    ]


@pytest.mark.parametrize(("config", "counts"), [({}, [1, 3]), ({"num_time_features": 0}, [0, 1, 2])])
def test_there_may_be_no_features_of_time(config, counts):
    def forward(past_values, past_time_features): ...

    candidates, *_ = configured_candidates(Pretrained("past_values", forward, context_length=8, **config))
    assert [candidate.entry[-1] for candidate in candidates["past_time_features"]] == counts


def test_optional_input_is_absent_at_first():
    candidates, *_ = configured_candidates(Pretrained("input_ids", both_forward, vocab_size=9))
    assert candidates["pixel_values"][0] is ABSENT
    assert len(candidates["pixel_values"]) > 1


@pytest.mark.usefixtures("project")
def test_large_configured_model_is_on_the_meta_device():
    target = resolve(
        parse_options({"model": "mypkg.models.Configured", "config": {"vocab_size": 10**7, "width": 64}}).call
    )
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
def test_all_or_no_required_parameters_get_conventional_values(function, arguments):
    assert conventional_arguments(function) == arguments


def test_annotations_decide_between_one_number_and_several():
    def one(depth: int, dropout: float): ...
    def several(depths: list[int], hidden_dims: tuple[int, ...]): ...
    def wrong(num_classes: str): ...

    assert conventional_arguments(one) == {"depth": 2, "dropout": 0.1}
    assert conventional_arguments(several) == {"depths": [2, 2], "hidden_dims": [16, 32]}
    assert conventional_arguments(wrong) is None


class BasicBlock(nn.Module):
    """As in timm and torchvision: the short cut is the input itself."""

    expansion = 1

    def __init__(self, inplanes: int, planes: int, stride: int = 1, downsample=None):
        super().__init__()
        self.conv = nn.Conv2d(inplanes, planes, 3, stride, padding=1)
        self.out = nn.Conv2d(planes, planes * self.expansion, 1)
        self.downsample = downsample

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        return self.out(self.conv(x)) + identity


class Bottleneck(BasicBlock):
    expansion = 4


@pytest.mark.parametrize(("block", "inside"), [(BasicBlock, 8), (Bottleneck, 32)])
def test_what_goes_into_a_residual_block_is_as_wide_as_what_comes_out(block, inside):
    target = resolve(parse_options({"model": f"{__name__}.{block.__name__}"}).call)
    assert target.note is None
    assert target.kwargs["x"].shape[1] == target.model.out.out_channels == inside


@pytest.mark.parametrize("annotation", ["int", "int | None", "Optional[int]", int | None])
def test_field_that_an_error_names_gets_a_value_that_suits_its_annotation(annotation):
    def config(ahead=None, other=None): ...

    config.__annotations__ = {"ahead": annotation}
    assert unset_fields(config, "The `ahead` config needs to be specified.") == {"ahead": 4}


# rule 4: names, layers, source, search


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("attention_mask", "mask"),
        ("src", "ids"),
        ("Image", "image"),
        ("edge_index", "edges"),
        ("t", "time"),
        ("edge_type", "edge types"),
        ("movie", "one id"),
        ("user_id", "one id"),
        ("item_ids", "ids"),
        ("foo", None),
    ],
)
def test_parameter_name_decides_the_role(name, role):
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
def test_first_layer_decides_the_input(layer, entry):
    assert layer_candidates(nn.Sequential(nn.ReLU(), layer))[0][1].entry == entry


def test_forwards_source_names_the_items_of_dicts_and_tuples():
    class Model(nn.Module):
        def forward(self, batch, pair, x):
            a, b = pair
            return batch["image"] + batch.get("mask") + a + b + x[0]

    assert unpacked_parameters(Model()) == {"batch": ["image", "mask"], "pair": [Part(0, "a"), Part(1, "b")]}


def test_candidates_keep_the_parameters_order_and_skip_defaults():
    class Model(Linear):
        def forward(self, x, flag: bool, mask=None):
            return self.fc(x)

    (candidates,) = inferred_candidates(Model())
    assert list(candidates) == ["x", "flag", "mask"]
    assert first(candidates) == {"x": [1, 4], "flag": {"value": False}}


def test_several_numbers_in_an_annotation_are_numbers():
    class Model(Linear):
        def forward(self, x, grid: tuple[int, int], scale: tuple[float, float] | None = None):
            height, width = grid
            return self.fc(x).view(-1, height, width)

    (candidates,) = inferred_candidates(Model())
    assert candidates["grid"][0].entry == {"value": [4, 4]}
    assert len(candidates["grid"]) == 1
    assert candidates["scale"][1].entry == {"value": [1.0, 1.0]}


def test_a_size_that_became_zero_ends_no_search():
    class Merger(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.proj = nn.LayerNorm(64), nn.Linear(4 * 64, 64)

        def forward(self, hidden_states, grid):
            h, w = grid
            b, n, c = hidden_states.shape
            assert n == h * w, f"expected {h * w} patches, got {n}"
            x = self.norm(hidden_states).view(b, h // 2, 2, w // 2, 2, c)
            return self.proj(x.transpose(2, 3).reshape(b, -1, 4 * c))

    assert infer(Merger()) is not None


def test_inputs_share_named_sizes():
    entry = {"a": [1, "<size>"], "b": {"shape": ["<length>"]}, "c": {"value": "<size>"}}
    assert named_sizes(entry["a"]) == {"<size>"}
    assert resolved(entry, {"<size>": 8, "<length>": 2}) == {
        "a": [1, 8],
        "b": {"shape": [2]},
        "c": {"value": "<size>"},
    }


def test_search_takes_the_first_that_works_and_logs_every_pass():
    budget = Budget()
    found = search(
        Linear(), {"x": [Candidate([1, 3], "no"), Candidate([1, 4], "yes"), Candidate([2, 4], "late")]}, budget
    )
    assert found.entries == {"x": [1, 4]}
    assert [line.rpartition(": ")[2] for line in budget.lines][-1] == "works"


def test_search_is_deterministic_and_ends():
    class Never(nn.Module):
        def forward(self, x):
            raise ValueError("never")

    runs = [Budget(), Budget()]
    candidates = {"x": [Candidate([1, n], "") for n in range(1, 200)]}
    assert [search(Never(), candidates, tries) for tries in runs] == [None, None]
    assert runs[0].lines == runs[1].lines
    assert len(runs[0].lines) < 60


def test_search_rejects_outputs_that_depend_on_no_input():
    class Constant(nn.Module):
        def forward(self, x):
            return torch.ones(2) * 2

    assert search(Constant(), {"x": [Candidate([1, 2], "")]}, Budget()) is None


def test_search_leaves_model_and_random_state_unchanged():
    model, state = Linear(), torch.get_rng_state()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    search(model, {"x": [Candidate([1, 3], ""), Candidate([1, 4], "")]}, Budget())
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert torch.equal(state, torch.get_rng_state())


def test_refusing_layer_repairs_the_width():
    class Joined(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(18, 1)

        def forward(self, x):
            return self.fc(torch.cat([x, torch.zeros(1, 12)], 1))

    graph = trace(Joined(), (torch.zeros(1, 18),))
    assert refused_width(graph) == (30, 18)
    assert [candidate.entry for candidate in repaired(Candidate([1, 18], ""), 30, 18)] == [[1, 6]]
    assert [candidate.entry for candidate in repaired(Candidate([1, 24], ""), 192, 24)] == [[1, 3]]
    assert [*repaired(Candidate({"shape": [1, 24], "dtype": "int64"}, ""), 192, 24)] == []


# rule 5: the module hierarchy


class Stubborn(nn.Module):
    """No input will do."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU()))
        self.head = nn.Linear(3, 1, bias=False)

    def forward(self, secret, flag=None, **more):
        raise ValueError("not this one")


def test_module_tree_lists_modules_in_the_order_of_registration():
    graph = module_tree(Stubborn(), ("a note",))
    check_graph(graph)
    assert (graph.status.state, graph.status.mode, graph.status.notes) == ("hierarchy", None, ("a note",))
    assert [node.id for node in graph.nodes] == ["blocks", "blocks.0", "blocks.1", "blocks.1.0", "head"]
    assert graph.hierarchy["blocks.1.0"] == "blocks.1"
    assert graph.adjacency == {}
    assert graph.tensors == {}
    head = graph.nodes[-1]
    assert (head.parameters.total, head.attributes["bias"]) == (3, False)
    assert graph.model.parameters.total == 12


def test_model_without_inputs_shows_its_modules_and_the_option_to_write():
    target = resolve(parse_options({"model": f"{__name__}.Stubborn"}).call)
    graph = record(target).graph
    assert graph.status.state == "hierarchy"
    assert graph.status.notes[0].endswith(
        "can be called with, so the diagram shows modules but no data flow; most tries raised ValueError: not this one."
        " Its forward takes secret: write the option `inputs` with a shape for each tensor, or `inputs_from`."
    )
    assert target.tried
    assert target.assumptions[0].value == "5 (module hierarchy)"


def test_a_size_that_a_view_leaves_open_is_no_field_that_is_unset():
    def config(width=-1): ...

    assert not unset_fields(config, "shape '[-1, 8]' is invalid for input of size 3")
    assert unset_fields(config, "Trying to create tensor with negative dimension -1: [4, -1]")
