"""Candidates for a forward's parameters (rule 4): by names, annotations and first layers."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.code.forward import (
    count_listed_items,
    find_unpacked_parameters,
    get_parameters,
)
from modeldiagrams.resolve.inputs.documented_shapes import find_documented_candidates
from modeldiagrams.resolve.inputs.layers import list_layer_candidates
from modeldiagrams.resolve.names.candidates import (
    ABSENT,
    Candidate,
    find_role,
    get_constructor_channels,
    list_role_candidates,
)
from modeldiagrams.resolve.names.vocabulary import find_project_value, list_usual_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import nn

__all__ = ["NODES", "infer_candidates", "infer_tensor_candidates", "is_graph"]

_PLAIN = {"int": 2, "float": 1.0, "bool": False}
_NUMBERS = re.compile(r"(?:typing\.)?[Tt]uple\[((?:int|float)(?:, ?(?:int|float))*)\](?: \| None)?")
_SIDE = 4
"""Of a grid, a map or a window, which models halve."""
_USUAL: tuple[list[Any], ...] = ([1, 8], [1, "<length>", 8], [1, 3, "<size>", "<size>"])
"""For models without parameters."""
_MAX_POSITIONAL = 3
_IMAGE_RANK = 4
_IMAGE_CHANNELS = {1, 2, 3, 4}
_MAX_LISTED = 4
_EMPTY = inspect.Parameter.empty
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_NAMELESS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)

NODES = 8
"""Of a graph, where other models have one row of a batch."""

Candidates = dict[str | int, "Sequence[Candidate]"]
Layers = list[tuple[str, Candidate]]
"""Path and candidate, see `list_layer_candidates`."""


def infer_candidates(model: nn.Module) -> Iterator[Candidates]:
    """Candidates for every input that a forward takes.

    Args:
        model: Its layers and its forward decide.

    Yields:
        Input, by name or by position, → candidates. For a parameter with a default the first is `ABSENT`.
    """
    layers = list_layer_candidates(model)
    parameters = [*get_parameters(model.forward).values()]
    is_of_graph = any(is_graph(p.name) for p in parameters)
    if is_of_graph:
        layers = _several_rows_first(layers)
    named = [p for p in parameters if p.kind in _BY_NAME]
    if any(p.kind in _NAMELESS for p in parameters):
        yield from _by_position(parameters, layers)
    elif named:
        inside, lists = find_unpacked_parameters(model), count_listed_items(model)
        candidates: Candidates = {
            p.name: _parameter(p, layers, inside.get(p.name, ()), lists.get(p.name, 0)) for p in named
        }
        candidates = _with_documented(candidates, model)
        if is_of_graph:
            candidates = {
                name: options if is_graph(str(name)) else _in_a_graph(str(name), options)
                for name, options in candidates.items()
            }
        if all(options[0] is ABSENT for options in candidates.values()):
            candidates[named[0].name] = candidates[named[0].name][1:]
        if found := {name: options for name, options in candidates.items() if options}:
            yield found


def _with_documented(candidates: Candidates, model: nn.Module) -> Candidates:
    """The same with shapes that are documented, before all others; a project's vocabulary comes before these."""
    documented = find_documented_candidates(model)
    for name in documented.keys() & candidates.keys() if documented else ():
        if find_project_value("inputs", str(name)) is None:
            absent = [option for option in candidates[name] if option is ABSENT]
            others = [option for option in candidates[name] if option is not ABSENT]
            candidates[name] = [*absent, documented[str(name)], *others]
    return candidates


def infer_tensor_candidates(model: nn.Module, name: str) -> list[Candidate]:
    """Candidates for a tensor of some name, at any depth of the inputs."""
    return _tensors(name, list_layer_candidates(model))


def _by_position(parameters: list[inspect.Parameter], layers: Layers) -> Iterator[Candidates]:
    """For a forward with nameless parameters: what it requires, then more of ``*args``, one by one."""
    rest = next((p for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL), None)
    required = [p for p in parameters if p.default is _EMPTY]
    first = [p for p in required if p.kind in (inspect.Parameter.POSITIONAL_ONLY, _BY_NAME[0])]
    keywords: Candidates = {p.name: _parameter(p, layers) for p in required if p.kind is inspect.Parameter.KEYWORD_ONLY}
    for count in range(max(1, len(first)), max(_MAX_POSITIONAL, len(first)) + 1 if rest else len(first) + 1):
        positional = [*first, *[rest] * (count - len(first))]
        yield {**{i: _parameter(p, layers) for i, p in enumerate(positional) if p}, **keywords}


def _parameter(
    parameter: inspect.Parameter, layers: Layers, inside: Sequence[Any] = (), count: int = 0
) -> list[Candidate]:
    """Candidates for one parameter."""
    found = _annotated(parameter)
    if found is None or find_project_value("inputs", parameter.name) is not None:
        found = _tensors(parameter.name, layers)
    if _NUMBERS.fullmatch(str(parameter.annotation)):
        inside, count = (), 0
    elif re.search(r"list|tuple|sequence", str(parameter.annotation).lower()):
        found = [*_several(found), *found]
    if count and not is_graph(parameter.name):
        found = [*_several(found, (count,)), *found]
    if inside and not is_graph(parameter.name):  # edges are pairs in one tensor
        found = [*_unpacked(inside, layers), *found]
    return found if parameter.default is _EMPTY else [ABSENT, *found]


def _annotated(parameter: inspect.Parameter) -> list[Candidate] | None:
    """Candidates that the annotation alone decides; None where it leaves the shape open."""
    annotation = parameter.annotation
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    written = written.strip("'\"").removesuffix(" | None")
    plain = _PLAIN.get(written)
    if plain is not None:
        return [Candidate({"value": plain}, f"it is annotated as {written}")]
    several = _NUMBERS.fullmatch(str(annotation))
    if several:
        values = [_SIDE if word.strip() == "int" else _PLAIN["float"] for word in several[1].split(",")]
        return [Candidate({"value": values}, f"it is annotated as {annotation}")]
    return [] if written == "str" and parameter.default is not _EMPTY else None


def _tensors(name: str, layers: Layers) -> list[Candidate]:
    """Candidates for a tensor: of layers that its name mentions, of its kind, of the name alone, of other layers."""
    role = find_role(name)
    mentioned = [candidate for path, candidate in layers if _mentions(name, path)]
    suited = [candidate for _, candidate in layers if role and role.suits(candidate.entry)]
    both = [candidate for candidate in mentioned if candidate in suited]
    if role and role.is_whole and not both:
        suited = _fitting_every_table(suited)
    own = [*list_role_candidates(role)]
    rest = [candidate for _, candidate in layers]
    usual = [Candidate(shape, "a usual shape") for shape in _USUAL]
    if role and role.name in ("image", "video"):
        likely = sorted([*both, *suited, *own], key=lambda candidate: not _has_image_channels(candidate))
        return [*likely, *mentioned, *_first_of_each(layers), *rest, *usual]
    if role and role.name == "sound":
        return [*both, *own, *suited, *mentioned, *rest]
    if suited or role is None or role.name == "state":
        return [*both, *suited, *mentioned, *_first_of_each(layers), *own, *rest, *usual]
    return [*own, *mentioned, *rest, *usual]


def _has_image_channels(candidate: Candidate) -> bool:
    """Whether an entry has the channels of the constructor, or else of an image."""
    return candidate.entry[1] in (get_constructor_channels() or _IMAGE_CHANNELS)


def _fitting_every_table(candidates: list[Candidate]) -> list[Candidate]:
    """Ids that every table accepts, for an input that may go into any of them."""
    least = min((candidate.entry["high"] for candidate in candidates), default=0)
    return [
        Candidate({**candidate.entry, "high": least}, f"ids below {least}, which fit every Embedding")
        for candidate in candidates
    ]


def is_graph(name: str) -> bool:
    """Whether a parameter holds the edges of a graph."""
    role = find_role(name)
    return role is not None and role.name in ("edges", "adjacency")


def _several_rows_first(layers: Layers) -> Layers:
    """A graph has several nodes, so a single row of features comes last."""
    return sorted(
        layers, key=lambda layer: layer[1].entry[0] != "<length>" if isinstance(layer[1].entry, list) else True
    )


def _in_a_graph(name: str, options: Sequence[Candidate]) -> list[Candidate]:
    """Graphs of a batch lie side by side: there is one id for each node or edge, and no dimension of the batch."""
    known = [
        Candidate(entry, "usual beside edges") for entry in list_usual_values("fields", name) if isinstance(entry, dict)
    ]
    rows = [
        Candidate({**option.entry, "shape": [NODES]}, option.reason)
        for option in options
        if isinstance(option.entry, dict) and option.entry.get("shape") == [1, "<length>"]
    ]
    absent = [option for option in options[:1] if option is ABSENT]
    return [*absent, *known, *rows, *options[len(absent) :]]


def _mentions(name: str, path: str) -> bool:
    """Whether a layer's path mentions an input: ``relation_ids`` and ``relations.weight``."""
    words, others = (re.findall(r"[a-z]{3,}", text.lower()) for text in (name, path))
    return any(one.startswith(other) or other.startswith(one) for one in words for other in others)


def _first_of_each(layers: Layers) -> list[Candidate]:
    """The most usual form of every layer: another layer is likelier than another form."""
    firsts = dict(reversed(layers))
    return [*reversed(firsts.values())]


def _several(candidates: list[Candidate], counts: Sequence[int] = (2, 3, 4, 1)) -> Iterator[Candidate]:
    """Lists of equal inputs."""
    for candidate in candidates[:_MAX_LISTED]:
        for count in counts:
            yield Candidate([candidate.entry] * count, f"{count} of them, each {candidate.reason}")


def _unpacked(inside: Sequence[Any], layers: Layers) -> Iterator[Candidate]:
    """A dict or a tuple with the items that the forward reads."""
    names = [key if isinstance(key, str) else key.name for key in inside]
    lists = [_tensors(name, layers) for name in names]
    for rank in range(max(map(len, lists))):
        # all at the same rank, then each one alone
        alone = [[rank if i == index else 0 for i in range(len(lists))] for index in range(len(lists) if rank else 0)]
        for ranks in [[rank] * len(lists), *alone]:
            if all(r < len(options) for r, options in zip(ranks, lists, strict=True)):
                candidates = [options[r] for r, options in zip(ranks, lists, strict=True)]
                entries = dict(zip(names, (candidate.entry for candidate in candidates), strict=True))
                is_map = isinstance(inside[0], str)
                yield Candidate(entries if is_map else [*entries.values()], "forward takes these out of it")
