"""Candidates for a forward's parameters (rule 4): what their names and annotations tell, and what the layers take."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.forward import parameters_of, unpacked_parameters
from modeldiagrams.target.layers import layer_offers
from modeldiagrams.target.offers import ABSENT, Offer
from modeldiagrams.target.vocabulary import named_offers, role_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import nn

__all__ = ["inferred_offers"]

_PLAIN = {"int": 2, "float": 1.0, "bool": False}
_USUAL: tuple[list[Any], ...] = ([1, 8], [1, "<length>", 8], [1, 3, "<size>", "<size>"])
"""For models without parameters."""
_MOST_GIVEN = 3
_MOST_LISTED = 4
_EMPTY = inspect.Parameter.empty
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_NAMELESS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)

Offers = dict[str | int, "Sequence[Offer]"]


def inferred_offers(model: nn.Module) -> Iterator[Offers]:
    """Candidates for every input that a forward takes.

    Args:
        model: Its layers and its forward are looked at.

    Yields:
        Input, by name or by position, → candidates. What has a default is left out first.
    """
    layers = layer_offers(model)
    parameters = [*parameters_of(model.forward).values()]
    if any(_is_graph(p.name) for p in parameters):
        layers = _several_rows_first(layers)
    named = [p for p in parameters if p.kind in _BY_NAME]
    if any(p.kind in _NAMELESS for p in parameters):
        yield from _by_position(parameters, layers)
    elif named:
        inside = unpacked_parameters(model)
        offers: Offers = {p.name: _parameter(p, layers, inside.get(p.name, ())) for p in named}
        if all(options[0] is ABSENT for options in offers.values()):
            offers[named[0].name] = offers[named[0].name][1:]
        yield {name: options for name, options in offers.items() if options}


def _by_position(parameters: list[inspect.Parameter], layers: list[tuple[str, Offer]]) -> Iterator[Offers]:
    """For a forward that does not name all it takes: what it requires, and then more of the rest, one by one."""
    rest = next((p for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL), None)
    required = [p for p in parameters if p.default is _EMPTY]
    first = [p for p in required if p.kind in (inspect.Parameter.POSITIONAL_ONLY, _BY_NAME[0])]
    keywords: Offers = {p.name: _parameter(p, layers, ()) for p in required if p.kind is inspect.Parameter.KEYWORD_ONLY}
    for count in range(max(1, len(first)), max(_MOST_GIVEN, len(first)) + 1 if rest else len(first) + 1):
        places = [*first, *[rest] * (count - len(first))]
        yield {**{i: _parameter(p, layers, ()) for i, p in enumerate(places) if p}, **keywords}


def _parameter(parameter: inspect.Parameter, layers: list[tuple[str, Offer]], inside: Sequence[Any]) -> list[Offer]:
    """Candidates for one parameter."""
    given = _annotated(parameter)
    if given is None:
        given = _tensors(parameter.name, layers)
    if re.search(r"list|tuple|sequence", str(parameter.annotation).lower()):
        given = [*_several(given), *given]
    if inside and not _is_graph(parameter.name):  # edges are pairs in one tensor
        given = [*_unpacked(inside, layers), *given]
    return given if parameter.default is _EMPTY else [ABSENT, *given]


def _annotated(parameter: inspect.Parameter) -> list[Offer] | None:
    """Candidates that an annotation decides alone; None where it leaves the shape open."""
    annotation = parameter.annotation
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    plain = _PLAIN.get(written.removesuffix(" | None"))
    if plain is not None:
        return [Offer({"value": plain}, f"it is annotated as {written}")]
    return [] if written == "str" and parameter.default is not _EMPTY else None


def _tensors(name: str, layers: list[tuple[str, Offer]]) -> list[Offer]:
    """Candidates for a tensor: of layers that its name speaks of, of its kind, of the name alone, of other layers."""
    role = role_of(name)
    akin = [offer for path, offer in layers if _is_akin(name, path)]
    suited = [offer for _, offer in layers if role and role.suits(offer.entry)]
    both = [offer for offer in akin if offer in suited]
    if role and role.is_whole and not both:
        suited = _fitting_every_table(suited)
    own = [*named_offers(role)]
    rest = [offer for _, offer in layers]
    usual = [Offer(shape, "a usual shape") for shape in _USUAL]
    if role and role.name == "sound":
        return [*both, *own, *suited, *akin, *rest]
    if suited or role is None or role.name == "state":
        return [*both, *suited, *akin, *_first_of_each(layers), *own, *rest, *usual]
    return [*own, *akin, *rest, *usual]


def _fitting_every_table(offers: list[Offer]) -> list[Offer]:
    """Ids that no table refuses, for an input that may go into any of them."""
    least = min((offer.entry["high"] for offer in offers), default=0)
    return [Offer({**offer.entry, "high": least}, f"ids below {least}, which fit every Embedding") for offer in offers]


def _is_graph(name: str) -> bool:
    """Whether a parameter says what is joined to what."""
    role = role_of(name)
    return role is not None and role.name in ("edges", "adjacency")


def _several_rows_first(layers: list[tuple[str, Offer]]) -> list[tuple[str, Offer]]:
    """A graph has several nodes: one row of features is the last thing to try."""
    return sorted(
        layers, key=lambda layer: layer[1].entry[0] != "<length>" if isinstance(layer[1].entry, list) else True
    )


def _is_akin(name: str, path: str) -> bool:
    """Whether a layer's path speaks of an input: ``relation_ids`` and ``relations.weight``."""
    words, others = (re.findall(r"[a-z]{3,}", text.lower()) for text in (name, path))
    return any(one.startswith(other) or other.startswith(one) for one in words for other in others)


def _first_of_each(layers: list[tuple[str, Offer]]) -> list[Offer]:
    """The most usual form of every layer: another layer is likelier than another form."""
    firsts = dict(reversed(layers))
    return [*reversed(firsts.values())]


def _several(offers: list[Offer]) -> Iterator[Offer]:
    """Lists of inputs that are alike."""
    for offer in offers[:_MOST_LISTED]:
        for count in (2, 3, 4, 1):
            yield Offer([offer.entry] * count, f"{count} of them, each {offer.reason}")


def _unpacked(inside: Sequence[Any], layers: list[tuple[str, Offer]]) -> Iterator[Offer]:
    """A dict or a tuple with what the forward takes out of it."""
    names = [key if isinstance(key, str) else f"input{key}" for key in inside]
    lists = [_tensors(name, layers) for name in names]
    for rank in range(max(map(len, lists))):
        # all at the same rank, then every one alone
        alone = [[rank if i == place else 0 for i in range(len(lists))] for place in range(len(lists) if rank else 0)]
        for ranks in [[rank] * len(lists), *alone]:
            if all(r < len(options) for r, options in zip(ranks, lists, strict=True)):
                offers = [options[r] for r, options in zip(ranks, lists, strict=True)]
                entries = dict(zip(inside, (offer.entry for offer in offers), strict=True))
                is_map = isinstance(inside[0], str)
                yield Offer(entries if is_map else [*entries.values()], "forward takes these out of it")
