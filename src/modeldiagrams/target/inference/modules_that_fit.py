"""Modules for arguments of a constructor, made up by how its forward calls them and by what it does with the result.

Long because modules have to fit each other, so that what one takes decides what others give.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.inference.made_up_modules import WITH
from modeldiagrams.target.inference.parameter_names import role_candidates, role_of
from modeldiagrams.target.inference.parts_called import part_calls
from modeldiagrams.target.inference.symbolic.shapes import ClashError, Dim, Shape, same
from modeldiagrams.target.inference.symbolic.tensors import SymbolicTensor
from modeldiagrams.target.inference.unknown import plain
from modeldiagrams.target.inference.vocabulary import is_listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch import nn

    from modeldiagrams.target.inference.parts_called import PartCall
    from modeldiagrams.target.inference.slots import Slot
    from modeldiagrams.target.inference.symbolic.given import Given

__all__ = ["fit_modules", "is_made_up"]

_OURS = "modeldiagrams.target.objects"
_TELLING = ("image", "video", "ids", "points", "spectrogram")
"""Kinds of inputs whose names tell the rank."""
_ROWS, _STEPS, _MAP, _CLIP = 2, 3, 4, 5
"""Ranks: rows of features, sequences of them, pictures, clips."""
_COLOURS = 3
_TOKENS = 100
_KERNEL = 8


def is_made_up(slot: Slot) -> bool:
    """Whether what an argument is now is no class of the project's."""
    option = slot.option() if slot.kind == "made" else None
    body = option["_args_"][0] if isinstance(option, dict) and option.get("_target_") == WITH else option
    return isinstance(body, dict) and str(body.get("_target_", "")).startswith(("torch.nn.", f"{_OURS}."))


def fit_modules(model: nn.Module, slots: Sequence[Slot]) -> bool:
    """Give arguments that modules were made up for such that suit how they are called; tell whether there are any."""
    if not any(is_made_up(slot) for slot in slots):
        return False
    calls = part_calls(model, is_made_up)
    fitter = _Fitter(calls, gives_maps=is_listed("map_parts", type(model).__name__))
    found = {call.slot: option for call in calls for option in [fitter.option(call)] if option}
    for slot, option in found.items():
        slot.fitting = [_written(option)]
    return bool(found)


def _written(option: Any) -> Any:
    """An option whose numbers don't know any more which arguments they come from."""
    if isinstance(option, dict):
        return {key: _written(value) for key, value in option.items()}
    return [_written(item) for item in option] if type(option) is list else plain(option)


class _Fitter:
    """Knows all calls, so that modules fit each other."""

    def __init__(self, calls: list[PartCall], *, gives_maps: bool) -> None:
        self.calls, self.gives_maps = calls, gives_maps
        self.numbers: dict[Dim, int] = {}
        for call in calls:
            self._tell_ranks(call)

    def option(self, call: PartCall) -> Any:
        """A module for a call; None where too little is known of it."""
        taken = [*_tensors(call)]
        if not taken:
            return None
        return _language_model(call, self) or self._module(call, taken, call.result)

    def width(self, dim: Dim, otherwise: int) -> int:
        """The number of features in a dimension, the same for all that it is one with."""
        end = dim.end()
        return end.value or self.numbers.setdefault(end, otherwise)

    def _tell_ranks(self, call: PartCall) -> None:
        self._tell_taken(call)
        taken = next(_tensors(call), None)
        if taken is not None:
            self._tell_made(call, taken)

    def _tell_taken(self, call: PartCall) -> None:
        """What names say where uses don't."""
        for at, tensor in enumerate(_tensors(call)):
            rank = _rank_by_name(tensor)
            if rank == at == 0 and _is_for_pictures(call.slot):
                rank = _MAP
            with contextlib.suppress(ClashError):
                if rank and tensor.known.rank is None:
                    tensor.known.of_rank(rank)
                if tensor.given and _is_of_ids(tensor):
                    tensor.kind.become("int64")

    def _tell_made(self, call: PartCall, taken: SymbolicTensor) -> None:
        """What is usual for what goes in, and the other way round."""
        for result in _results(call.result):
            with contextlib.suppress(ClashError):
                rank = self._usual_rank(taken, call) if result.tensor.known.rank is None else 0
                if rank:
                    result.tensor.known.of_rank(rank)
                if rank and rank == taken.known.rank and rank != _MAP and not _is_whole(taken):
                    same(result.tensor.known.at(-1), taken.known.at(-1))
        ranks = {result.tensor.known.rank for result in _results(call.result)}
        with contextlib.suppress(ClashError):
            if taken.known.rank is None and ranks in ({_MAP}, {_CLIP}):
                taken.known.of_rank(max(rank or 0 for rank in ranks))

    def _usual_rank(self, taken: SymbolicTensor, call: PartCall) -> int:
        rank = taken.known.rank
        if rank is None:
            return 0
        if _is_whole(taken):
            return rank + 1
        if rank < _MAP:
            return rank
        later = [each for each in self.calls if any(t.given is call.result for t in _tensors(each))]
        is_map = self.gives_maps or any(is_listed("map_parts", each.slot.name) for each in [call, *later])
        is_map = is_map or not (_name(taken) or is_listed("row_parts", call.slot.name))
        is_one = [*_results(call.result)] == [call.result]
        return rank if is_map else _ROWS if is_one and _rank_by_name(taken) == _MAP else 0

    def _module(self, call: PartCall, taken: list[Any], result: Given) -> Any:
        parts = {} if result.is_used else {key: part for key, part in result.parts.items() if part.is_read}
        if not parts:
            return self._of_tensors(call, taken, result.tensor.known.end())
        options = {key: self._module(call, taken, part) for key, part in parts.items()}
        if None in options.values():
            return None
        if result.way == "item":
            unread = next(iter(options.values()))  # `_, state = self.encoder(x)`
            several = [options.get(at, unread) for at in range(max(map(int, options)) + 1)]
            return self._pyramid(taken, result) or _branches(several)
        return _branches(options, is_object=result.way == "attribute")

    def _pyramid(self, taken: list[Any], result: Given) -> Any:
        """Maps, each of half the sides of the one before."""
        maps = [part.tensor.known.end() for part in result.parts.values()]
        if len(taken) > 1 or taken[0].known.rank != _MAP or any(shape.rank != _MAP for shape in maps):
            return None
        widths = [self.width(shape.at(1), 32) for shape in maps]
        channels = self.width(taken[0].known.at(1), _COLOURS)
        more = {} if channels == _COLOURS else {"inputs": channels}
        return {"_target_": f"{_OURS}.Pyramid", "_args_": [widths], **more}

    def _of_tensors(self, call: PartCall, taken: list[Any], made: Shape) -> Any:
        first, *others = taken
        shape = first.known.end()
        if shape.rank is None or made.rank is None:
            return None
        is_whole = _is_whole(first)
        ranks = (int(shape.rank), int(made.rank))
        dims = self._width_of(shape, call), self._width_of(made, call)
        if is_whole:
            body = _of_ids(*ranks, dims[1])
        else:
            body = self._attending(others, *ranks, dims) or _of_features(*ranks, *dims)
            if body and body["_target_"] == f"{_OURS}.Attention":
                return body
        if body is None or not others:
            return body
        widths = [self._width_of(other.known.end(), call) if _has_features(other) else 1 for other in others]
        return {"_target_": f"{_OURS}.Conditioned", "_args_": [body, widths]}

    def _attending(self, others: list[Any], rank: int, rank_made: int, widths: tuple[int, int]) -> Any:
        """Attention, where there are masks beside sequences."""
        masks = [other for other in others if _is_mask(other)]
        if not masks or (rank, rank_made) != (_STEPS, _STEPS) or widths[0] != widths[1]:
            return None
        memory = next((other for other in others if other not in masks and other.known.rank == _STEPS), None)
        kinds = ["memory" if other is memory else "mask" if other in masks else "other" for other in others]
        of_target = [at for at, other in enumerate(others) if _is_of_target(other)]
        if memory is not None:
            kinds = ["own_mask" if at in of_target else kind for at, kind in enumerate(kinds)]
        return {"_target_": f"{_OURS}.Attention", "_args_": [widths[0], kinds]}

    def _width_of(self, shape: Shape, call: PartCall) -> int:
        known = shape.end()
        if known.rank is None or not known.rank:
            return call.slot.width
        is_map = known.rank >= _MAP
        return self.width(known.at(1 if is_map else -1), self._usual_width(shape, call))

    def _usual_width(self, shape: Shape, call: PartCall) -> int:
        is_input = any(t.known.end() == shape.end() and t.given and len(t.given.path) for t in _inputs_of(call))
        is_input = is_input or (call is self.calls[0] and next(_tensors(call)).known.end() == shape.end())
        return _COLOURS if is_input and (shape.rank or 0) >= _MAP else call.slot.width


def _is_for_pictures(slot: Slot) -> bool:
    """Whether a module's name says so, or what is asked of it: as of those of `timm`."""
    return is_listed("picture_parts", slot.name) or any(is_listed("picture_needs", name) for name in slot.needs)


def _tensors(call: PartCall) -> Iterator[SymbolicTensor]:
    yield from (each for each in (*call.args, *call.kwargs.values()) if isinstance(each, SymbolicTensor))


def _inputs_of(call: PartCall) -> list[Any]:
    """What a call gets that is an input of the model."""
    return [t for t in _tensors(call) if t.given and _name(t)]


def _name(tensor: Any) -> str:
    """Of an input, or of a part of one; of nothing that a module made."""
    given = getattr(tensor, "given", None)
    if given is None or str(given.path[0]).startswith("call "):
        return ""
    return next((key for key in reversed(given.path) if isinstance(key, str)), "")


def _rank_by_name(tensor: Any) -> int:
    role = role_of(_name(tensor)) if _name(tensor) else None
    entry = next((each.entry for each in role_candidates(role)), None) if role and role.name in _TELLING else None
    shape = entry.get("shape", []) if isinstance(entry, dict) else entry
    return len(shape) if isinstance(shape, list) else 0


def _is_of_ids(tensor: Any) -> bool:
    role = role_of(_name(tensor)) if _name(tensor) else None
    return role is not None and role.name == "ids"


def _is_mask(tensor: Any) -> bool:
    role = role_of(_name(tensor)) if _name(tensor) else None
    return (role is not None and role.name == "mask") or tensor.kind.end().dtype == "bool"


def _is_of_target(tensor: Any) -> bool:
    return bool(re.match(r"(tgt|trg|target|self|look_ahead|causal)", _name(tensor)))


def _has_features(tensor: Any) -> bool:
    """Whether it is a row of numbers or more, and not of ids or of what is hidden."""
    return tensor.known.rank in (_ROWS, _STEPS) and not (_is_mask(tensor) or _is_whole(tensor))


def _is_whole(tensor: Any) -> bool:
    return bool(tensor.kind.with_casts().dtype == "int64")


def _results(result: Given) -> Iterator[Given]:
    """The tensors that are read of what a module gives."""
    parts = {} if result.is_used else result.parts
    if not parts:
        yield result
    for part in parts.values():
        yield from _results(part)


def _language_model(call: PartCall, fitter: _Fitter) -> Any:
    """One as those of `transformers`, where what it is called with or what is read of the result is theirs."""
    first, parts = next(_tensors(call)), {} if call.result.is_used else call.result.parts
    is_theirs = "input_ids" in call.kwargs or is_listed("language_models", call.slot.name)
    known = {"last_hidden_state", "pooler_output", 0, 1}
    if not _is_whole(first) or not parts.keys() <= known or not (parts.keys() & known if parts else is_theirs):
        return None
    if call.result.way == "item" and not is_theirs:
        return None
    width = next((fitter.width(part.tensor.known.at(-1), call.slot.width) for part in parts.values()), call.slot.width)
    return {"_target_": f"{_OURS}.LanguageModel", "_args_": [_TOKENS, width]}


def _branches(options: Any, *, is_object: bool = False) -> Any:
    return {"_target_": f"{_OURS}.Branches", "_args_": [options], **({"is_object": True} if is_object else {})}


def _layer(name: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
    return {"_target_": f"torch.nn.{name}", **({"_args_": [*args]} if args else {}), **kwargs}


def _chain(*layers: dict[str, Any]) -> dict[str, Any]:
    return _layer("Sequential", *layers)


def _of_ids(rank: int, rank_made: int, width: int) -> Any:
    """A table; what code makes of its rows is no other rank of theirs."""
    return _layer("EmbeddingBag" if rank == rank_made == _ROWS else "Embedding", _TOKENS, width)


def _of_features(rank: int, rank_made: int, inputs: int, outputs: int) -> Any:
    """A module that makes tensors of one rank of those of another, and of so many features."""
    makers: dict[tuple[int, int], Callable[[int, int], Any]] = {
        (4, 4): lambda i, o: _layer("Conv2d", i, o, 3, padding=1),
        (5, 5): lambda i, o: _layer("Conv3d", i, o, 3, padding=1),
        (4, 2): lambda i, o: _pooled(2, i, o),
        (5, 2): lambda i, o: _pooled(3, i, o),
        (4, 3): lambda i, o: {"_target_": f"{_OURS}.Patches", "_args_": [i, o]},
        (2, 4): lambda i, o: _chain(_layer("Unflatten", 1, [i, 1, 1]), _layer("ConvTranspose2d", i, o, _KERNEL)),
        (3, 2): lambda i, o: {"_target_": f"{_OURS}.Mean", "_args_": [i, o]},
        **{(same_rank, same_rank): lambda i, o: _layer("Linear", i, o) for same_rank in (1, 2, 3)},
    }
    make = makers.get((rank, rank_made))
    return make(inputs, outputs) if make else None


def _pooled(sides: int, inputs: int, outputs: int) -> Any:
    """A small network for pictures or clips, which gives a row for each."""
    convolution, pool = _layer(f"Conv{sides}d", inputs, 16, 3, padding=1), _layer(f"AdaptiveAvgPool{sides}d", 1)
    return _chain(convolution, _layer("ReLU"), pool, _layer("Flatten"), _layer("Linear", 16, outputs))
