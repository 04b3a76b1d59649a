"""What the sizes of inputs are called."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import BartConfig, BartModel, GPT2Config, GPT2Model, WhisperConfig, WhisperModel

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.dimensions.naming import InputNames, name_inputs


def forward(*layers: nn.Module, doc: str = "", **annotations: Any) -> nn.Module:
    """A model of these layers whose forward has these arguments with annotations."""
    scope: dict[str, Any] = {}
    exec(f"def forward(self, {', '.join(annotations)}): ...", scope)  # noqa: S102
    scope["forward"].__annotations__ = {name: said for name, said in annotations.items() if said}
    scope["forward"].__doc__ = doc
    model: nn.Module = type("Model", (nn.Sequential,), {"forward": scope["forward"]})(*layers)
    return model


def names_of(model: Any, *args: Any, dims: Any = None, inputs_from: str | None = None, **kwargs: Any) -> InputNames:
    return name_inputs(model, args, kwargs, dims, inputs_from)


def texts(names: InputNames) -> dict[str, str]:
    return {name: " ".join(map(str, dims)) for name, dims in names.dims.items()}


def ids(*shape: int) -> Tensor:
    return torch.zeros(shape, dtype=torch.int64)


LINEAR = nn.Linear(8, 8)


@pytest.mark.parametrize(
    ("model", "args", "expected"),
    [
        (forward(nn.Conv2d(3, 8, 3), image=""), (torch.zeros(2, 3, 32, 48),), {"image": "B 3 H W"}),
        (forward(nn.Conv2d(3, 8, 3), x=""), (torch.zeros(2, 32, 48, 3),), {"x": "B H W 3"}),
        (forward(nn.Conv3d(1, 8, 3), video=""), (torch.zeros(2, 1, 8, 32, 48),), {"video": "B 1 T H W"}),
        (forward(nn.Conv2d(3, 8, 3), video=""), (torch.zeros(2, 8, 3, 32, 48),), {"video": "B T 3 H W"}),
        (forward(nn.Conv1d(80, 8, 3), mel=""), (torch.zeros(2, 80, 300),), {"mel": "B 80 T"}),
        (forward(LINEAR, waveform=""), (torch.zeros(2, 16000),), {"waveform": "B L"}),
        (forward(LINEAR, x=""), (torch.zeros(5, 8),), {"x": "B 8"}),
        (forward(nn.LSTM(8, 8), x=""), (torch.zeros(10, 2, 8),), {"x": "T B 8"}),
        (
            forward(LINEAR, x="", edge_index="", edge_attr="", batch=""),
            (torch.zeros(9, 8), ids(2, 30), torch.zeros(30, 3), ids(9)),
            {"x": "N 8", "edge_index": "2 E", "edge_attr": "E 3", "batch": "N"},
        ),
        # a mask has the sizes of what it masks, whatever comes first
        (
            forward(LINEAR, mask="", x="", lengths=""),
            (ids(2, 1, 10, 10), torch.zeros(2, 10, 8), ids(2)),
            {"mask": "B 1 T T", "x": "B T 8", "lengths": "B"},
        ),
        (
            forward(LINEAR, query="", key="", mask=""),
            (torch.zeros(2, 5, 8), torch.zeros(2, 7, 8), ids(2, 1, 5, 7)),
            None,
        ),
        (forward(LINEAR, a="", b=""), (torch.zeros(2, 5, 8), torch.zeros(3, 6, 8)), {"a": "B T 8", "b": "B′ T′ 8"}),
        # features are no sides of images, and one number for each of a batch is no feature
        (
            forward(LINEAR, anchor="", past_keys="", weight=""),
            (torch.zeros(5, 8), torch.zeros(5, 4, 9, 6), torch.zeros(5)),
            {"anchor": "B 8", "past_keys": "B 4 P 6", "weight": "B"},
        ),
        (forward(LINEAR, characters=""), (ids(2, 7, 5),), {"characters": "B T 5"}),
        # each image of a list has its own size
        (
            forward(nn.Conv2d(3, 8, 3), images=""),
            ([torch.zeros(3, 32, 48), torch.zeros(3, 32, 48)],),
            {"images[0]": "3 H W", "images[1]": "3 H′ W′"},
        ),
        (
            forward(LINEAR, batch=""),
            (SimpleNamespace(tokens=ids(2, 9), mask=ids(2, 9), scale=torch.tensor(1.0)),),
            {"batch.tokens": "B T", "batch.mask": "B T", "batch.scale": ""},
        ),
        (
            GPT2Model(GPT2Config(n_layer=1)),
            (ids(2, 9),),
            {"input_ids": "B T"},
        ),  # its docstring names `input_ids_length`
    ],
)
def test_names_by_convention(model: nn.Module, args: Any, expected: dict[str, str] | None) -> None:
    expected = expected or {"query": "B T 8", "key": "B S 8", "mask": "B 1 T S"}
    assert texts(names_of(model, *args)) == expected


def test_sources_and_targets() -> None:
    with torch.device("meta"):
        bart = BartModel(BartConfig(encoder_layers=1, decoder_layers=1))
        whisper = WhisperModel(WhisperConfig(encoder_layers=1, decoder_layers=1))
    names = names_of(bart, input_ids=ids(2, 9), attention_mask=ids(2, 9), decoder_input_ids=ids(2, 9))
    assert texts(names) == {"input_ids": "B S", "attention_mask": "B S", "decoder_input_ids": "B T"}
    assert names.meanings == {"B": "batch", "S": "source tokens", "T": "target tokens"}
    # the docstring has time before features, and the first convolution takes features
    names = names_of(whisper, torch.zeros(2, 80, 3000), decoder_input_ids=ids(2, 9))
    assert texts(names)["input_features"] == "B 80 S"


@pytest.mark.parametrize(("is_first", "expected"), [(True, ("B", "S", 16)), (False, ("S", "B", 16))])
def test_documents_that_state_both_orders_decide_nothing(is_first: bool, expected: tuple[str | int, ...]) -> None:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 16), 1, enable_nested_tensor=False)
    model = nn.Transformer(16, 2, 1, 1, 16, custom_encoder=encoder, batch_first=is_first)
    shapes = [(1, 10, 16), (1, 7, 16)] if is_first else [(10, 1, 16), (7, 1, 16)]
    assert names_of(model, *map(torch.zeros, shapes)).dims["src"] == expected


def test_what_is_broadcast_keeps_its_number() -> None:
    positions = torch.arange(9)[None]
    names = names_of(forward(LINEAR, input_ids="", position_ids=""), ids(2, 9), positions)
    assert texts(names) == {"input_ids": "B T", "position_ids": "1 T"}
    assert texts(names_of(forward(LINEAR, input_ids=""), ids(1, 9))) == {"input_ids": "B T"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('Float[Tensor, "b t c"]', "B T 8"),
        ("Float[Tensor, 'batch slots 8'] | None", "B slots 8"),
        ('Float[Tensor, "*batch t 8"]', "B T 8"),
        ('Float[Tensor, "... t _"]', "2 T 8"),
        ('Float[Tensor, "b t+1 dim"]', "B 10 8"),
        ('Float[Tensor, "#b rows=10 c"]', "B 10 8"),
        ('Float[Tensor, "b t h w"]', "B T 8"),  # not for this input: then by convention
        ("Tensor", "B T 8"),
    ],
)
def test_annotations_name_sizes(said: str, expected: str) -> None:
    names = names_of(forward(LINEAR, x=said), torch.zeros(2, 10, 8))
    assert texts(names) == {"x": expected}


def test_annotations_of_jaxtyping_name_sizes() -> None:
    jaxtyping = pytest.importorskip("jaxtyping")
    said = jaxtyping.Float[Tensor, "b slots 8"]
    names = names_of(forward(LINEAR, x=said, y=list[said] | None), torch.zeros(2, 10, 8), [torch.zeros(2, 10, 8)])
    assert texts(names) == {"x": "B slots 8", "y[0]": "B slots 8"}
    assert names.named_by == {"B": "annotation", "slots": "annotation"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("x (Tensor): of shape `(batch_size, num_queries, hidden_size)`", "B Q 8"),
        ("x: tokens (B, N, C)", "B N 8"),
        (":param x: [batch x frames x 8]", "B T 8"),
        ("x: (batch, num_boxes_of_sorts, 8)", "B T 8"),  # an unknown word: by convention
        ("x: (batch, frames, 16)", "B T 8"),  # not its size
    ],
)
def test_docstrings_name_sizes(said: str, expected: str) -> None:
    names = names_of(forward(LINEAR, doc=f"Run.\n\n{said}\n", x=""), torch.zeros(2, 10, 8))
    assert texts(names) == {"x": expected}
    if "frames" in said and "16" not in said:
        assert names.meanings["T"] == "frames"


def test_authors_come_first_and_others_follow() -> None:
    model = forward(LINEAR, doc="Run.\n\nx: of shape (batch, frames, 8)\n", x="", mask="", num_frames="", size="")
    dims = {"x": ["N", "L", 8], "num_frames": "L", "size": ["H", "W"], "K": "N*L"}
    names = names_of(model, torch.zeros(2, 10, 8), ids(2, 10), num_frames=10, size=(7, 9), dims=dims)
    assert texts(names) == {"x": "N L 8", "mask": "N L"}
    assert names.arguments == {"num_frames": "L", "size[0]": "H", "size[1]": "W"}
    assert names.letters == {"K": "N*L"}
    assert set(names.named_by.values()) == {"author"}
    assert names.sizes == {"N": 2, "L": 10, "H": 7, "W": 9}
    swapped = names_of(forward(LINEAR, x=""), torch.zeros(10, 2, 8), dims={"x": ["T", "B", 8]})
    assert swapped.meanings == {"T": "time steps", "B": "batch"}


def test_parameters_of_the_authors_function_name_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    def inputs(batch_size: int = 2, T: int = 16, dim: int = 8, seed: int = 1) -> Any:  # noqa: N803
        torch.manual_seed(seed)
        return {"x": torch.zeros(batch_size, T, dim), "labels": ids(batch_size, T - 1), "num_frames": T}

    made = ModuleType("made_inputs")
    monkeypatch.setattr(made, "inputs", inputs, raising=False)
    monkeypatch.setitem(sys.modules, "made_inputs", made)
    model = forward(LINEAR, x="", labels="", num_frames="")
    names = names_of(model, inputs_from="made_inputs.inputs", **inputs())
    assert texts(names) == {"x": "B T 8", "labels": "B 15"}  # which follows T, too
    assert names.parameters == {"batch_size": "B", "T": "T"}
    assert names.arguments == {"num_frames": "T"}
    assert names.named_by == {"B": "author", "T": "author"}
    other = names_of(model, inputs_from="made_inputs.inputs", dims={"x": ["N", "L", 8]}, **inputs())
    assert other.parameters == {"batch_size": "N", "T": "L"}


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        ({"x": ["B", "T"]}, r"x: expected 3 names or numbers, for 2×16×8, got \[B, T\]"),
        ({"x": "T"}, "x: it is a tensor: expected a list with 3 names or numbers, got 'T'"),
        ({"x": ["B", "T", 9]}, "x: dimension 3 of 2×16×8 is 8, not 9"),
        ({"x": ["B", "T", 8], "mask": ["B", "B"]}, "B: it is 2 in x and 12 in mask; give one of them another name"),
        ({"x": ["T", "T", 8]}, "T: it is 2 and 16 in x"),
        ({"maks": ["B", "T"]}, "maks: the model gets no tensor or whole number of this name; did you mean 'mask'"),
        ({"ids": ["B", "T"]}, "ids: .* of this name; there are: x, mask, num_frames"),
        ({"num_frame": "T"}, "num_frame: .*did you mean 'num_frames'"),
        ({"num_frames": "T", "x": ["B", "T", 8]}, "T: it is 5 in num_frames and 16 in x"),
        ({"num_frames": "2*T"}, "num_frames: it is the number 5: expected a name, `T`, got '2"),
        ({"size": ["H", "W", "D"]}, "size: expected 2 names, got 3"),
        ({"N": "T*K"}, r"N: T\*K has 'K', which is no size of the inputs; there are: B, T"),
        ({"T": "B*4"}, r"T: it is a size of x, and can't stand for B\*4, too"),
    ],
)
def test_mistakes_of_authors_are_told(dims: dict[str, Any], message: str) -> None:
    model = forward(LINEAR, x="", mask="", num_frames="", size="")
    with pytest.raises(TargetError, match=f"option `dims`, {message}"):
        names_of(model, torch.zeros(2, 16, 8), torch.ones(2, 12), num_frames=5, size=(7, 9), dims=dims)
