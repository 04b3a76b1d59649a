"""What docstrings, comments and annotations say of inputs: it is read where it is a shape, and code overrules it.

Long because each way of writing is a case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import pytest
import torch
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.target import resolve
from modeldiagrams.target.inference.documented.kind_text import kind_in
from modeldiagrams.target.inference.documented.sections import inputs_part, items
from modeldiagrams.target.inference.documented.shape_text import plain_text, shape_in
from target.found_inputs import first_entries, found

if TYPE_CHECKING:
    from jaxtyping import Float

SHAPES = {
    ": (B, T, input_dim)": ("B", "T", "input_dim"),
    " (Tensor): input of shape [batch, seq_len, d_model]": ("batch", "seq_len", "d_model"),
    r": :math:`(N, C_{in}, H, W)`": ("N", "C_in", "H", "W"),
    r": :math:`(N, \text{length}, 3)`": ("N", "length", "3"),
    r": points :math:`\in \mathbb{R}^{B \times N \times 3}`": ("B", "N", "3"),
    ": torch.Tensor [B x 3 x H x W]": ("B", "3", "H", "W"),
    ": B x N x 3": ("B", "N", "3"),
    ": ids, [batch_size, 1]": ("batch_size", "1"),
    ": mel spectrogram, shape=(batch, frames, n_mels)": ("batch", "frames", "n_mels"),
    ": N*C*L": ("N", "C", "L"),
    ": BxCxHxW": ("B", "C", "H", "W"),
    ": points, Nx3": ("N", "3"),
    ": bxcxl": ("b", "c", "l"),
    ": (bs, c, t)": ("bs", "c", "t"),
    ": Tensor[N, 4]": ("N", "4"),
    ": (B*T, D)": ("B*T", "D"),
    ": [*, N, C_z] pair": ("...", "N", "C_z"),
    ": (..., 3) points": ("...", "3"),
    ": (B, T, C=80)": ("B", "T", "80"),
    ": (B, H/4, W/4, 2*C)": ("B", "H/4", "W/4", "2*C"),
    " : LongTensor of shape (batch size, sequence length)": ("batch_size", "sequence_length"),
    ": (B,)": ("B",),
    ": (batch, 1, n_mels), in [0, 1]": ("batch", "1", "n_mels"),
    ": tokens 'b t d'": ("b", "t", "d"),
    ": shape: B, T, C": ("B", "T", "C"),
    " (Tensor, optional): mask of shape (B, T)": ("B", "T"),
    ": (N, L) or (L,)": ("N", "L"),
    r": input \((B, T, D)\)": ("B", "T", "D"),
    ": **features** (B, n_atoms)": ("B", "n_atoms"),
}
NO_SHAPES = (
    ": values in [0, 1]",
    ": normalised to [-1, 1]",
    " (torch.Tensor, optional): the input",
    ": boxes as (x1, y1, x2, y2)",
    ": Dict[str, Tensor]",
    ": pairs of (name, value)",
    ": (B, 2**9)",
    ": the axis of the exact pixel (see the paper)",
    ": features (default: None)",
    ": a tuple (h, c)",
    ": a 3x3 kernel",
    ": Text, in its Context",
    ": Next of the batch",
)


@pytest.mark.parametrize("text", SHAPES)
def test_shapes_are_read_in_the_styles_that_people_use(text):
    assert shape_in(plain_text(text)) == SHAPES[text]


@pytest.mark.parametrize("text", NO_SHAPES)
def test_ranges_types_and_remarks_are_no_shapes(text):
    assert shape_in(plain_text(text)) is None


@pytest.mark.parametrize(
    ("text", "dtype", "high"),
    [
        (" (LongTensor): (B, T)", "int64", ""),
        (": class indices in [0, n_classes)", "int64", "n_classes"),
        (": bool mask (B, T)", "bool", ""),
        (": True for padding, (B, T)", "bool", ""),
        (": (B, T) token ids", "int64", ""),
        (": FloatTensor of shape (B,)", "float32", ""),
        (": pixels in [0, 1]", "", ""),
        (": waveform (B, T), up to 10 s long", "", ""),
        (" (long): (B, T)", "int64", ""),
        (": (B, T) long", "int64", ""),
    ],
)
def test_kinds_are_read(text, dtype, high):
    assert (kind_in(text).dtype, kind_in(text).high) == (dtype, high)


def test_every_style_of_docstring_tells_which_name_is_meant():
    styles = (
        "Args:\n    x (Tensor): (B, T)\n    m: (B,)\n\nReturns:\n    x: (B, 9)",
        "Parameters\n----------\nx : Tensor of shape (B, T)\n    Words.\nm : Tensor, shape (B,)\n\nReturns\n-------\ny",
        ":param x: input, (B, T)\n:type x: torch.Tensor\n:param m: (B,)\n:return: x, (B, 9)",
        "@param x: (B, T)\n@param m: (B,)\n@return: (B, 9)",
        "Shape:\n    - x: (B, T)\n    - m: (B,)\n    - Output: (B, 9)",
        "x: (B, T), m: (B,) -> (B, 9)",
    )
    for style in styles:
        said = {name: shape for name, text in items(inputs_part(style)) if (shape := shape_in(text))}
        assert (said.get("x"), said.get("m")) == (("B", "T"), ("B",)), style


class Said(nn.Module):
    """A bias that broadcasts with any rank."""

    def __init__(self, frames: int = 24, width: int = 6):  # noqa: ARG002
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x, keep):
        """Add.

        Args:
            x: (frames, batch, width)
            keep: (frames, batch), 1 where frames count
        """
        return (x + self.bias) * keep.float()[..., None]


class Lying(nn.Module):
    """Its docstring was copied from that of a model of pictures."""

    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(50, 8), nn.Linear(8, 4)

    def forward(self, x):
        """x (FloatTensor): images of shape (B, 3, H, W)"""
        rows, steps = x.shape
        return self.out(self.table(x)).view(rows, steps * 4)


class OneLies(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Conv2d(3, 4, 1)

    def forward(self, x, gain):
        """
        x: [B, C, T]
        gain: [B, 4]
        """
        return self.out(x) * gain[:, :, None, None].sigmoid()


class Commented(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(
        self,
        x,  # (B, 3, T)
        y,
    ):
        # y: (B, T)  # noqa: ERA001
        x = x * self.scale  # (B, 9, 9, 9)
        return x.sum(1) + y


class Typed(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x: Float[torch.Tensor, "batch time 5"], y: "Float[torch.Tensor, 'batch time']"):  # noqa: F722, UP037
        return x.sum(-1) * self.scale + y


class Listed(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, batch):
        """
        batch: dict with

        - 'points': (B, N, 3)
        - 'colours': (B, N, 3), in [0, 1]
        """
        return (batch["points"] - batch["colours"]) * self.scale


class Ray(NamedTuple):
    origin: torch.Tensor  # (B, 3)
    size: tuple[int, int]
    kind: Literal["near", "far"]
    name: str


class Rays(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, ray: Ray):
        height, width = ray.size
        gain = {"near": 1.0, "far": 2.0}[ray.kind] * len(ray.name.split())
        return ray.origin * self.scale * height * width * gain


@dataclass
class Tiled:
    size: tuple[int, int]
    pixels: torch.Tensor


class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({"pos": nn.Linear(5, 3), "ner": nn.Linear(5, 4)})

    def forward(self, x, task: str):
        return self.heads[task](x)


def test_a_shape_in_words_is_taken_with_sizes_of_the_constructor_and_the_page_says_so():
    entries = found(Said)
    assert entries["x"] == [24, 1, 6]
    assert (entries["keep"]["shape"] if isinstance(entries["keep"], dict) else entries["keep"]) == [24, 1]
    target = resolve(parse_options({"model": f"{__name__}.Said"}).call)
    assert {a.subject: a.reason for a in target.assumptions}["inputs.x"] == "as the docstring of forward says"


def test_code_overrules_words():
    assert found(Lying)["x"] == {"shape": [1, 16], "dtype": "int64", "high": 50}
    target = resolve(parse_options({"model": f"{__name__}.Lying"}).call)
    assert "docstring" not in " ".join(a.reason for a in target.assumptions)


def test_what_is_said_of_other_inputs_stays_true():
    entries = first_entries(OneLies())
    assert (len(entries["x"]), entries["gain"][1:]) == (4, [4])


def test_comments_beside_parameters_and_above_statements_are_read():
    entries = first_entries(Commented())
    assert entries["x"][1] == 3
    assert entries["y"] == [entries["x"][0], entries["x"][2]]


def test_annotations_of_shapes_are_read():
    entries = first_entries(Typed())
    assert entries["x"] == [*entries["y"], 5]
    assert len(entries["y"]) == 2


def test_parts_of_dicts_are_read_by_their_keys():
    entries = first_entries(Listed())["batch"]
    assert entries["points"] == entries["colours"]
    assert entries["points"][2:] == [3]


def test_fields_of_plain_types_are_no_tensors():
    entries = found(Rays)["ray"]
    assert entries["origin"] == [1, 3]
    assert entries["size"] == {"value": [4, 4]}
    assert entries["kind"] == {"value": "near"}
    assert isinstance(entries["name"]["value"], str)


def test_a_string_that_chooses_a_part_is_one_of_its_keys():
    assert found(Chosen) == {"x": [1, 5], "task": {"value": "pos"}}


class Halving(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 4, 3, 2, 1)
        self.up = nn.ConvTranspose2d(4, 1, 2, 2)

    def forward(self, picture, depth):
        """
        picture: (B, 3, H, W)
        depth: (B, 1, H, W)
        """
        return self.up(self.down(picture)) + depth


class Framed(nn.Module):
    """Input: (N x 3 x 96 x 80)."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, 2, 1)

    def forward(self, picture):
        return self.stem(picture)


class Filmed(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, video, kept):
        """Average the video (B, T, C, H, W) over those steps that are kept (B, T)."""
        return (video * self.scale).flatten(2).sum(-1) * kept


def test_shapes_in_a_sentence_are_those_of_the_names_before_them():
    entries = first_entries(Filmed())
    assert len(entries["video"]) == 5
    assert len(entries["kept"]) == 2


def test_sides_that_words_leave_open_can_be_halved():
    assert found(Halving) == {"picture": [1, 3, 32, 32], "depth": [1, 1, 32, 32]}


def test_sides_that_words_tell_stay():
    assert found(Framed) == {"picture": [1, 3, 96, 80]}


class DocstringsMadeLater(nn.Module):
    """Replaced below by what libraries put there that make texts when they are asked for."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.layer = nn.Linear(width, 4)

    def forward(self, x):
        return self.layer(x)


def test_docstrings_that_are_no_texts_say_nothing(monkeypatch):
    monkeypatch.setattr(DocstringsMadeLater.forward, "__doc__", 7)
    assert first_entries(DocstringsMadeLater())["x"][-1] == 16
    monkeypatch.setattr(DocstringsMadeLater, "__doc__", property(lambda _: "x: (B, 5, 16)"))
    assert first_entries(DocstringsMadeLater())["x"][-1] == 16
