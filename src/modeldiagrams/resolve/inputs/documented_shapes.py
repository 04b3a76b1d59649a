"""Shapes that docstrings and annotations state: ``tokens (LongTensor): ids of shape (batch, time)``."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from torch import nn

from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.names.candidates import Candidate, get_constructor_numbers, make_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["find_documented_candidates", "list_shapes", "list_statements"]

_SIZE = r"[A-Za-z_]\w*|\d+"
_SHAPE = re.compile(rf"[(\[]\s*((?:{_SIZE})(?:\s*(?:,|\bx\b|×)\s*(?:{_SIZE}))*)\s*,?\s*[)\]]")
_BATCH = re.compile(r"b|n|bs|bsz|batch(_?size)?", re.IGNORECASE)
_WORDS = frozenset({"tensor", "torch", "optional", "default", "int", "float", "bool", "str", "list", "tuple", "none"})
"""What is in brackets next to a name and is no size."""
_WHOLE = re.compile(r"\b(Long|Int)(Tensor|\[)|\bu?int(64|32|8)\b|\bintegers?\b|\b(ids|indices)\b", re.IGNORECASE)
_BOOL = re.compile(r"\bBool(Tensor|\[)|\bbool(ean)?\b", re.IGNORECASE)
_MAX_LENGTH = 400
"""Letters of the text about one input."""


def find_documented_candidates(model: nn.Module) -> dict[str, Candidate]:
    """Parameter of `forward` → a tensor of the shape that is stated.

    Args:
        model: Its docstrings are read, and those sizes looked up that are named after its attributes or arguments.
    """
    numbers = {
        **{name: value for name, value in vars(model).items() if type(value) is int},
        **get_constructor_numbers(),
    }
    tables = [module for module in model.modules() if isinstance(module, nn.Embedding | nn.EmbeddingBag)]
    rows = min((table.num_embeddings for table in tables), default=2)
    found = {}
    for name, text, source in [*_annotations(model), *list_statements(model, model.forward)]:
        shape = _shape_in(text, numbers)
        if shape is not None and name not in found:
            found[name] = Candidate(_entry(shape, text, rows), f"as {source} says")
    return found


def _annotations(model: nn.Module) -> Iterator[tuple[str, str, str]]:
    """As `list_statements`, of annotations."""
    for name, parameter in get_parameters(model.forward).items():
        annotation = parameter.annotation
        text = annotation if isinstance(annotation, str) else getattr(annotation, "dim_str", "")
        if sizes := re.search(r"[\"']([\w\s]+)[\"']", text) or re.fullmatch(r"([\w\s]+ [\w\s]+)", text):
            yield name, f"{text.partition('[')[0]}[ ({', '.join(sizes[1].split())})", "its annotation"


def list_statements(model: object, function: Callable[..., Any]) -> Iterator[tuple[str, str, str]]:
    """What docstrings state about inputs.

    Args:
        model: The docstring of its class comes last.
        function: The model's `forward`, or what is called in its place.

    Yields:
        The parameter, the text about it, and where it is.
    """
    parameters = get_parameters(function)
    for owner, source in ((function, "the docstring of forward"), (type(model), "the docstring of its class")):
        text = inspect.getdoc(owner) if isinstance(getattr(owner, "__doc__", None), str) else ""
        items = [(match.start(), match.end(), name) for name in parameters for match in _find_items(name, text or "")]
        for (_, start, name), following in zip(sorted(items), [*sorted(items)[1:], None], strict=False):
            end = min(following[0] if following else start + _MAX_LENGTH, start + _MAX_LENGTH)
            yield name, re.split(r"\n\s*\n", (text or "")[start:end])[0], source


def _find_items(name: str, text: str) -> Iterator[re.Match[str]]:
    """Where a text begins to speak of a name, in the styles of Google, NumPy and Sphinx."""
    pattern = rf"^[ \t]*(?:[-*][ \t]+)?(?:[:@](?:param|type)[ \t]+)?[`*]*{re.escape(name)}[`*]*[ \t]*(?=[:(])"
    return re.finditer(pattern, text, re.MULTILINE)


def list_shapes(text: str) -> Iterator[list[str]]:
    """The shapes in a text: words and numbers of each."""
    for match in _SHAPE.finditer(text):
        sizes = re.split(r"\s*(?:,|\bx\b|×)\s*", match[1])
        is_range = all(size.isdigit() for size in sizes)
        is_one = len(sizes) == 1 and not _BATCH.fullmatch(sizes[0])
        if not (is_range or is_one or _WORDS & {size.lower() for size in sizes}):
            yield sizes


def _shape_in(text: str, numbers: Mapping[str, int]) -> list[Any] | None:
    """The first shape in a text; sizes that nothing tells have a usual length."""
    sizes = next(list_shapes(text), None)
    return sizes and [_size(word, numbers, is_first=not at) for at, word in enumerate(sizes)]


def _size(word: str, numbers: Mapping[str, int], *, is_first: bool) -> Any:
    if word.isdigit():
        return int(word)
    return 1 if is_first and _BATCH.fullmatch(word) else numbers.get(word, "<length>")


def _entry(shape: list[Any], text: str, rows: int) -> Any:
    if _BOOL.search(text):
        return {"shape": shape, "dtype": "bool", "low": 1, "high": 2}
    return make_ids(shape, rows) if _WHOLE.search(text) else shape
