"""Objects and modules for arguments that plain data cannot describe; diagrams show these paths."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

__all__ = ["with_attributes"]


class AttributeDict(dict[str, Any]):
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
    """An object that returns fixed values: when called, for its length, for its attributes."""

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
    """The result of a language model, read by position or by name."""

    last_hidden_state: Tensor
    pooler_output: Tensor


class LanguageModel(nn.Module):
    """A small language model with the interface of `transformers`."""

    def __init__(self, vocabulary: int, width: int) -> None:
        """Make one layer.

        Args:
            vocabulary: Number of tokens.
            width: Of their vectors.
        """
        super().__init__()
        self.embeddings, self.pooler = nn.Embedding(vocabulary, width), nn.Linear(width, width)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None, *_more: Any, **_named: Any) -> Encoded:
        """Vectors of all tokens, and one of the first."""
        hidden = self.embeddings(input_ids)
        if attention_mask is not None:
            hidden = hidden * attention_mask[..., None].to(hidden.dtype)
        return Encoded(hidden, torch.tanh(self.pooler(hidden[:, 0])))


def with_attributes(module: nn.Module, **attributes: Any) -> nn.Module:
    """A module with more attributes than its class has, for models that read sizes from a part.

    Args:
        module: The module; it is changed.
        attributes: By name.
    """
    for name, value in attributes.items():
        setattr(module, name, value)
    return module
