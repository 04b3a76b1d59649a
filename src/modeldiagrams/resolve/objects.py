"""Objects and modules that stand in for arguments which no plain data describes, under the path that diagrams show."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

__all__ = [
    "Answer",
    "Denoiser",
    "LanguageModel",
    "Layer",
    "PictureNetwork",
    "Pyramid",
    "Settings",
    "with_attributes",
]


class Settings(dict[str, Any]):
    """A configuration whose values are read as keys and as attributes."""

    def __getattr__(self, name: str) -> Any:
        """The value of a key.

        Raises:
            AttributeError: if there is no such key.
        """
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Answer:
    """An object that is asked for things: by calls, for its length, for its attributes."""

    def __init__(self, value: Any = None, *, length: int = 0, **attributes: Any) -> None:
        """Keep what it answers.

        Args:
            value: What a call gives; of a map, what it has for the call's first argument, also if that has a name.
            length: What `len` gives.
            attributes: By name.
        """
        self.value, self.length = value, length
        vars(self).update(attributes)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value, whatever else the call is given."""
        asked = next(iter((*args, *kwargs.values())), None)
        by_name = isinstance(self.value, dict) and isinstance(asked, str) and asked in self.value
        return self.value[asked] if by_name else self.value

    def __len__(self) -> int:
        """The length."""
        return self.length

    def __bool__(self) -> bool:
        """It is there."""
        return True


class Encoded(NamedTuple):
    """What a language model gives, read by position or by name."""

    last_hidden_state: Tensor
    pooler_output: Tensor


class Attention(nn.Module):
    """Attention of sequences to themselves or to others; what masks have a zero for is hidden."""

    def __init__(self, width: int, others: list[str]) -> None:
        """Make the layers.

        Args:
            width: Of each step.
            others: What comes after the sequences: ``memory`` that they attend to, a ``mask`` for it, or an
                ``own_mask``, with which they attend to themselves before.
        """
        super().__init__()
        self.others = others
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor, *others: Tensor | None, **named: Tensor | None) -> Tensor:
        """The sequences, and what they attend to."""
        pairs = zip(self.others, (*others, *named.values()), strict=False)
        given = [(kind, value) for kind, value in pairs if value is not None]
        own, masks = ([value for kind, value in given if kind == name] for name in ("own_mask", "mask"))
        x = self._attended(x, x, own) if own else x
        return self._attended(x, next((value for kind, value in given if kind == "memory"), x), masks)

    def _attended(self, x: Tensor, memory: Tensor, masks: list[Tensor]) -> Tensor:
        scores = self.query(x) @ self.key(memory).transpose(-2, -1) / x.shape[-1] ** 0.5
        for mask in masks:
            scores = scores.masked_fill((mask.squeeze(1) if mask.ndim == scores.ndim + 1 else mask) == 0, -1e4)
        attended: Tensor = self.output(scores.softmax(-1) @ self.value(memory))
        return x + attended


class LanguageModel(nn.Module):
    """A small one that takes what those of `transformers` take."""

    def __init__(self, vocabulary: int, width: int) -> None:
        """Make one layer.

        Args:
            vocabulary: Number of tokens.
            width: Of their vectors.
        """
        super().__init__()
        self.embeddings = nn.Embedding(vocabulary, width)
        self.attention = Attention(width, ["mask"])
        self.pooler = nn.Linear(width, width)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, *_more: Any, **_named: Any) -> Encoded:
        """Vectors of all tokens, and one of the first."""
        mask = None if attention_mask is None else attention_mask[:, None]
        hidden = self.attention(self.embeddings(input_ids), mask)
        return Encoded(hidden, torch.tanh(self.pooler(hidden[:, 0])))


class Denoiser(nn.Module):
    """A convolution that is told the step."""

    def __init__(self, channels: int) -> None:
        """Make it for pictures.

        Args:
            channels: Of the pictures.
        """
        super().__init__()
        self.convolution = nn.Conv2d(channels, channels, 3, padding=1)
        self.step = nn.Linear(1, channels)

    def forward(self, x: Tensor, t: Tensor, *_more: Any, **_named: Any) -> Tensor:
        """A picture of the same size."""
        step: Tensor = self.step(t.reshape(-1, 1).to(x.dtype))
        picture: Tensor = self.convolution(x)
        return picture + step[:, :, None, None]


class PictureNetwork(nn.Module):
    """A small network for pictures that is made as those of `torchvision` are, with as many classes as one likes."""

    def __init__(self, *_more: Any, num_classes: int = 32, **_named: Any) -> None:
        """Make the layers.

        Args:
            num_classes: How many numbers it gives for a picture.
        """
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.fc = nn.Linear(16, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        """A row of numbers for each picture."""
        numbers: Tensor = self.fc(self.features(x).flatten(1))
        return numbers


class Pyramid(nn.Module):
    """Convolutions one after another, each of which halves the sides of a picture; gives what each of them makes."""

    def __init__(self, channels: list[int], inputs: int = 3) -> None:
        """Make one convolution for each number of channels.

        Args:
            channels: Of the pictures that they give.
            inputs: Channels of the one that they get.
        """
        super().__init__()
        pairs = zip([inputs, *channels], channels, strict=False)
        self.stages = nn.ModuleList(nn.Conv2d(before, after, 3, 2, 1) for before, after in pairs)

    def forward(self, x: Tensor) -> list[Tensor]:
        """Pictures, each half as wide as the one before."""
        made = []
        for stage in self.stages:
            x = stage(x)
            made.append(x)
        return made


class Layer(nn.Linear):
    """A layer that gives as many features as it gets, unless it is told another number."""

    def __init__(self, width: int, *more: int) -> None:
        """Make it.

        Args:
            width: Number of features.
            more: How many it gives.
        """
        super().__init__(width, more[0] if more else width)


def with_attributes(module: nn.Module, **attributes: Any) -> nn.Module:
    """A module with attributes that its class doesn't have, for models that ask a part for its sizes.

    Args:
        module: The module; it is changed.
        attributes: By name.
    """
    for name, value in attributes.items():
        setattr(module, name, value)
    return module
