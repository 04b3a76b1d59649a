"""Everything that a model's source says in words about what its forward takes, the most trustworthy first."""

from __future__ import annotations

import inspect
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from torch import nn

from modeldiagrams.target.forward import parameters_of
from modeldiagrams.target.inference.annotations import annotations_of, is_own_class, without_none
from modeldiagrams.target.inference.documented.code_words import field_words, parameter_words
from modeldiagrams.target.inference.documented.sections import inputs_part, items
from modeldiagrams.target.inference.documented.shape_text import shape_in

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Statement", "legend", "required_tensors", "statements"]

_LIBRARIES = ("torch", "transformers", "builtins", "typing", "lightning", "pytorch_lightning", "collections", "abc")
"""Packages whose classes say what is true of all models, or what is found in other ways."""
_LEGEND = re.compile(
    r"(?<![\w.])(?P<symbol>[A-Za-z]\w{0,5})\s*(?:=|:|\bis\b|denotes|equals)\s*(?:the\s+)?(?P<value>\d+|[A-Za-z_]\w{2,})\b"
)
_MANY_FIELDS = 40
_INPUT = re.compile("inputs?|input_tensors?|input_shape", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """What is said of one name."""

    name: str
    text: str
    """Without markup; it begins after the name."""
    source: str
    """Who says it, for readers of a page."""


def statements(model: nn.Module) -> Iterator[Statement]:
    """What is said about parameters of the forward, and about the parts that these have."""
    forward = getattr(type(model), "forward", None)
    if forward is None:  # compiled code has none at its class
        return
    in_code = [*parameter_words(forward)]
    yield from (Statement(name, text, "as it is annotated") for is_comment, name, text in in_code if not is_comment)
    sole = required_tensors(model)
    source, words = "as the docstring of forward says", _docstring(forward)
    yield from _of_docstring(words, source, sole)
    yield from (Statement(name, _mentioned(name, words), source) for name in parameters_of(model.forward))
    yield from (
        Statement(name, text, "as a comment in forward says") for is_comment, name, text in in_code if is_comment
    )
    for owner in _classes(type(model)):
        source, words = f"as the docstring of {owner.__name__} says", _docstring(owner)
        taken = {*parameters_of(owner)} - {*sole}  # there it is an argument of the constructor
        yield from (each for each in _of_docstring(words, source, sole) if each.name not in taken)
        yield from (Statement(name, _mentioned(name, words), source) for name in sole)
    yield from _of_fields([*annotations_of(model.forward).values()])


def required_tensors(model: nn.Module) -> list[str]:
    """Parameters of the forward without a default."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in parameters_of(model.forward).values() if p.default is p.empty and p.kind in kinds]


def legend(model: nn.Module) -> dict[str, str]:
    """Symbols in shapes → the name or the number that docstrings say they are: ``D = d_model``."""
    owners = [getattr(type(model), "forward", None), *_classes(type(model))]
    found = [match for owner in owners for match in _LEGEND.finditer(_docstring(owner))]
    return {match["symbol"]: match["value"] for match in reversed(found)}


def _classes(class_: type) -> list[type]:
    return [each for each in class_.__mro__ if each.__module__.split(".")[0] not in _LIBRARIES]


def _docstring(owner: Any) -> str:
    """What its own docstring says of inputs; one that is no text, or is made when it is asked for, says nothing."""
    text = vars(owner).get("__doc__") if isinstance(owner, type) else getattr(owner, "__doc__", None)
    return inputs_part(inspect.cleandoc(text)) if isinstance(text, str) else ""


def _of_docstring(words: str, source: str, required: list[str]) -> Iterator[Statement]:
    """What it says of names; of the one input, if it says something of no name."""
    found = [*items(words)]
    yield from (Statement(name, said, source) for name, said in found)
    if len(required) == 1 and required[0] not in {name for name, said in found if shape_in(said)}:
        yield from (Statement(required[0], said, source) for name, said in found if _INPUT.fullmatch(name))
        yield Statement(required[0], _first_sentence_with_shape(words), source)


def _mentioned(name: str, words: str) -> str:
    """What a sentence says of a name right before a bracket: "the video (B, T, C, H, W) and its mask (B, T)"."""
    found = re.search(
        rf"(?<![\w.]){re.escape(name)}[\"']?\s*(?:[:=]|is|of shape|with shape|has shape)?\s*(?=[(\[])", words
    )
    return words[found.end() :].partition("\n")[0] if found else ""


def _first_sentence_with_shape(words: str) -> str:
    """What is said of inputs without a name: "Expects images of shape (B, 3, H, W)."."""
    match = re.search(r"\b(inputs?|expects?|takes?|accepts?|given|shape)\b[^\n]*", words, re.IGNORECASE)
    first = words.strip().partition("\n")[0]
    return match[0] if match else first


def _of_fields(annotations: list[Any]) -> Iterator[Statement]:
    """What classes say of the fields of objects that the forward takes."""
    known: list[Any] = []
    while annotations and len(known) < _MANY_FIELDS:
        class_ = without_none(annotations.pop(0))
        annotations += get_args(class_)
        if class_ in known or not is_own_class(class_) or issubclass(class_, nn.Module):
            continue
        known.append(class_)
        if not getattr(sys.modules.get(class_.__module__), "__file__", None):
            continue
        source = f"as {class_.__name__} says"
        yield from (Statement(name, text, source) for name, text in field_words(class_))
        words = _docstring(class_)
        if not words.startswith(f"{class_.__name__}("):  # Python's own of a class of fields
            yield from _of_docstring(words, f"as the docstring of {class_.__name__} says", [])
        annotations += annotations_of(class_).values()
