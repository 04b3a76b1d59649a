"""Inputs of a Hugging Face model, from its configuration and the names of its parameters (rule 2).

There is no table of classes: `main_input_name` and the names of the parameters say what they hold, and the
configuration, with the configurations inside it, how large that is.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from modeldiagrams.resolve.code.forward import VARIADIC, get_parameters
from modeldiagrams.resolve.names.candidates import ABSENT, Candidate, make_ids, make_ones
from modeldiagrams.resolve.names.vocabulary import find_value, get_table, matches_any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch import nn

__all__ = ["list_configured_candidates"]

_EMBEDDED = "inputs_embeds"
_TOKENS = 16
_WAVE = 4000
"""Samples of a sound: a quarter of a second, some frames after every usual stride."""
_ROUND_WAVE = 15_360
"""For models that want whole frames: a multiple of every usual stride."""
_COLOURS = 3
_SIDES = (64, 128, 256, 512, 1024)  # of images
_GRID = 4
"""Patches per side, and per time, of images given as a list of patches."""


def list_configured_candidates(model: nn.Module) -> Iterator[dict[str | int, Sequence[Candidate]]]:
    """Candidates for a model with a configuration.

    Args:
        model: Has `config`, `main_input_name` and a `forward`.

    Yields:
        Input → candidates: those of an optional input start with `ABSENT`, those of the main input and of required ones
        don't; then the same with embeddings in place of token ids. Nothing for a model without such a configuration.
    """
    main: Any = getattr(model, "main_input_name", None)
    model_config: Any = getattr(model, "config", None) if isinstance(main, str) else None
    if model_config is None:
        return
    config = Configuration(model_config)
    parameters = get_parameters(model.forward)
    names = sorted((name for name, p in parameters.items() if p.kind not in VARIADIC), key=lambda name: name != main)
    required = {name for name in names if parameters[name].default is inspect.Parameter.empty}
    always = {main, *required}
    if getattr(model_config, "is_encoder_decoder", False):
        always.add("decoder_input_ids")
    candidates: dict[str | int, Sequence[Candidate]] = {}
    for name in names:
        found = list(_candidates(name, config, fallback=name in required))
        if found and (name in always or not matches_any(get_table("huggingface_ignored"), name)):
            candidates[name] = found if name in always else [ABSENT, *found]
    if candidates and all(options[0] is ABSENT for options in candidates.values()):
        first = next(iter(candidates))  # the main input is not a parameter: the first one takes its place
        candidates[first] = candidates[first][1:]
    yield candidates
    if _EMBEDDED in names and "input_ids" in candidates:
        yield {
            _EMBEDDED: [*_embedded(config)],
            **{name: candidate for name, candidate in candidates.items() if name != "input_ids"},
        }


def _candidates(name: str, config: Configuration, *, fallback: bool) -> Iterator[Candidate]:
    """Candidates for one parameter, by its name."""
    kind = find_value("huggingface_inputs", name) or ("states" if fallback else None)
    if kind:
        yield from _FIXED[kind] if kind in _FIXED else _MAKERS[kind](name, config)


def _token_ids(name: str, config: Configuration) -> Iterator[Candidate]:
    inside = "decoder" if name.startswith("decoder") else "text"
    source, size = config.number("vocabulary", inside, 100)
    _, longest = config.number("positions", inside, _TOKENS)
    reason = f"ids are below {source} {size}" if source else "a usual size"
    yield Candidate(make_ids([1, min(_TOKENS, longest)], size), reason)
    yield from _codes(size, config)
    mark, end = config.number("end token", inside)
    if mark and end < size:
        entry = {"shape": [1, min(_TOKENS, longest)], "dtype": "int64", "low": end, "high": end + 1}
        yield Candidate(entry, f"the model looks for {mark} {end}")
    yield Candidate(make_ids([1, 2, min(_TOKENS, longest)], size), f"{reason}, two choices")
    yield Candidate(make_ids([1, min(4 * _TOKENS, longest)], size), reason)


def _codes(size: int, config: Configuration) -> Iterator[Candidate]:
    """Ids of sound: several at every step, one for each codebook, and perhaps one of text before them."""
    source, books = config.number("codebooks", "codec")
    _, other = config.number("codebook size", default=size)
    for count in (books, books + 1) if source else ():
        for shape in ([1, _TOKENS, count], [1, count, _TOKENS]):
            yield Candidate(make_ids(shape, min(size, other)), f"ids of {source} {books} codebooks")


def _embedded(config: Configuration) -> Iterator[Candidate]:
    """Embeddings of tokens."""
    for inside in ("text", "encoder", ""):
        source, width = config.number("embedding width", inside)
        if source:
            yield Candidate([1, _TOKENS, width], f"embeddings as wide as {source} {width}, in place of token ids")


def _pixels(_: str, config: Configuration) -> Iterator[Candidate]:
    source, channels, (height, width) = config.image()
    reason = f"an image of {source} {height}" if source else "an image of a usual size"
    _, frames = config.number("frames", default=2)
    image = Candidate([1, channels, height, width], reason)
    video = [Candidate([1, n, channels, height, width], f"{reason}, {n} frames") for n in dict.fromkeys((frames, 1, 2))]
    whole = [*video[:1], image, *video[1:]] if config.get("clip length")[0] else [image, *video]
    # a model that knows the size of its patches but not of its images may take them as patches
    yield from whole if source else [*_searched(channels, config), *whole[:1]]
    yield from _patches("", config)
    yield from [] if source else whole[1:]
    yield Candidate([frames, channels, height, width], f"{reason}, {frames} frames as a batch")
    if channels != _COLOURS:
        yield Candidate([1, _COLOURS, height, width], reason)
    if source:
        for side in (224, 256, 384, 512, 1024, 1536):
            yield Candidate([1, channels, side, side], "an image of a usual size")


def _searched(channels: int, config: Configuration) -> Iterator[Candidate]:
    """An image for a detector that picks its queries among the positions of its maps: with enough of them."""
    source, queries = config.number("queries")
    _, strides = config.get("strides")
    sides = _SIDES if source and isinstance(strides, list | tuple) else ()
    enough = [side for side in sides if sum((side // stride) ** 2 for stride in strides) >= queries]
    yield from [Candidate([1, channels, side, side], f"it has places for {source} {queries}") for side in enough[:1]]


def _videos(_: str, config: Configuration) -> Iterator[Candidate]:
    source, channels, (height, width) = config.image()
    _, frames = config.number("frames", default=4)
    reason = f"{frames} frames of {source} {height}" if source else f"{frames} frames of a usual size"
    yield Candidate([1, frames, channels, height, width], reason)
    yield from _patches("", config)


def _patches(_: str, config: Configuration) -> Iterator[Candidate]:
    """An image as a list of flattened patches."""
    source, side = config.number("patch size", "vision")
    _, channels = config.number("patch channels", "vision", 3)
    _, times = config.number("patch frames", "vision", 1)
    count, width = _GRID**3, channels * times * side * side
    for shape, kind in (
        ([count, width], "flattened patches"),
        ([1, count, width], "flattened patches"),
        ([count, channels, side, side], "patches"),
    ):
        if source:
            yield Candidate(shape, f"{count} {kind} of {source} {side}")


def _sizes(_: str, config: Configuration) -> Iterator[Candidate]:
    """Height and width of an image: in patches, or in pixels."""
    source, _channels, (height, _width) = config.image()
    _, patch = config.number("patch stride", "vision", 1)
    for count, unit in ((height // patch, "patches"), (height, "pixels")) if source else ():
        entry = {"shape": [1, 2], "dtype": "int64", "low": count, "high": count + 1}
        yield Candidate(entry, f"height and width of an image of {source} {height} in {unit}")


def _wave(_: str, config: Configuration) -> Iterator[Candidate]:
    source, bins = config.number("mel bins")
    _, longest = config.number("spectrum length", default=128)
    spectrum = [Candidate([1, longest, bins], f"a spectrum of {source} {bins}")] if source else []
    _, channels = config.number("audio channels", default=1)
    shapes = ([1, _WAVE], [1, channels, _WAVE], [1, _ROUND_WAVE], [1, 16 * _WAVE])
    waves = [Candidate(shape, f"a sound of {shape[-1]} samples") for shape in shapes]
    yield from [*spectrum, *waves] if config.get("spectrum length")[0] else [*waves, *spectrum]
    yield from _token_ids("", config)


def _spectrum(_: str, config: Configuration) -> Iterator[Candidate]:
    source, bins = config.number("spectrum bins", "audio", 80)
    _, frames = config.number("source positions", "audio")
    reason = f"a spectrum of {source} {bins}" if source else "a spectrum of a usual size"
    if frames:
        yield Candidate([1, bins, 2 * frames], f"{reason}, twice max_source_positions frames")
    for length in (128, 400, 1024):
        for shape in ([1, length, bins], [1, bins, length], [1, 1, length, bins]):
            yield Candidate(shape, reason)
    if frames:
        yield Candidate([1, bins, frames], reason)


def _mask(name: str, config: Configuration) -> Iterator[Candidate]:
    shapes: list[list[Any]] = [[1, _TOKENS], [1, 128], [1, 1, _TOKENS, _TOKENS]]
    if name == "bool_masked_pos":
        _, _, (height, width) = config.image()
        _, patch = config.number("patch stride", "vision", 16)
        if isinstance(height, int):
            yield Candidate(make_ones([1, (height // patch) * (width // patch)], "bool"), "every patch is masked")
        return
    if re.search("pixel|image", name):
        _, _, (height, width) = config.image()
        shapes = [[1, height, width], [1, 1, height, width]]
    yield from (Candidate(make_ones(shape), "hides nothing") for shape in shapes)


def _series(name: str, config: Configuration) -> Iterator[Candidate]:
    """Past and future of a time series."""
    source, length = config.number("context length", default=_TOKENS)
    _, lags = config.get("lags")
    _, ahead = config.number("prediction length", default=_TOKENS)
    length = length + max(lags) if isinstance(lags, list | tuple) and lags else length
    steps = ahead if name.startswith("future") else length
    reason = f"as long as {source or 'usual'}"
    if "time_features" in name:
        _, features = config.get("time features")  # there may be none
        for count in dict.fromkeys((features, features or 1, features + 2) if isinstance(features, int) else (1, 3)):
            yield Candidate([1, steps, count], reason)
        return
    _, channels = config.number("series channels", default=1)
    shapes = [[1, steps, channels], [1, steps]] if channels > 1 else [[1, steps], [1, steps, 1]]
    for shape in shapes:
        yield Candidate(make_ones(shape) if "mask" in name else shape, reason)


def _states(_: str, config: Configuration) -> Iterator[Candidate]:
    source, width = config.number("state width", default=64)
    reason = f"as wide as {source} {width}" if source else "a usual size"
    yield from _patches("", config)
    for shape in ([1, _TOKENS, width], [_TOKENS, width], [1, width, _TOKENS], [1, width], [1, width, 8, 8]):
        yield Candidate(shape, reason)
    yield Candidate(make_ids([1, _TOKENS], 2), "whole numbers")
    yield Candidate(make_ids([1], 2), "a whole number")


def _regions(name: str, config: Configuration) -> Iterator[Candidate]:
    """Regions of an image that a detector has found."""
    source, width = config.number("region width", default=64)
    _, corners = config.number("region corners", default=4)
    if re.search("pos|bbox", name):
        yield Candidate([1, 8, corners], "their corners")
    else:
        yield Candidate([1, 8, width], f"eight regions of {source} {width}")


_FIXED = {
    "boxes": [
        Candidate({"shape": [1, _TOKENS, 4], "dtype": "int64", "high": 1}, "empty boxes"),
        Candidate([1, _TOKENS, 4], "one box for every token"),
    ],
    "codebook": [Candidate({"value": 1}, "the first after the one that is given")],
    "grid": [
        Candidate(
            {"shape": [1, 3], "dtype": "int64", "low": _GRID, "high": _GRID + 1},
            f"time, height and width in patches: {_GRID} each",
        ),
        Candidate(
            {"_target_": "torch.tensor", "data": {"value": [[1, 2 * _GRID, 2 * _GRID]]}},
            "as many patches in one image",
        ),
    ],
    "language": [Candidate(make_ids([1], 1), "the first language")],
    "merge sizes": [Candidate({"shape": [1], "dtype": "int64", "low": 1, "high": 2}, "no patches are merged")],
}
"""What of the table ``huggingface_inputs`` is the same for all configurations."""
_MAKERS: dict[str, Callable[[str, Configuration], Iterator[Candidate]]] = {
    "regions": _regions,
    "image sizes": _sizes,
    "time series": _series,
    "video": _videos,
    "image": _pixels,
    "patches": _patches,
    "mask": _mask,
    "sound": _wave,
    "spectrum": _spectrum,
    "token ids": _token_ids,
    "states": _states,
}
"""What else it names."""


class Configuration:
    """A configuration, and those inside it."""

    def __init__(self, config: Any) -> None:
        """Collect the configurations.

        Args:
            config: The outermost.
        """
        self._parts: list[tuple[str, Any]] = [("", config)]
        seen = {id(config)}
        for path, part in self._parts:
            for name, value in sorted(getattr(part, "__dict__", {}).items()):
                if _is_config(value) and id(value) not in seen:
                    seen.add(id(value))
                    self._parts.append((f"{path}.{name}", value))

    def get(self, quantity: str, section: str = "") -> tuple[str, Any]:
        """The value of the first field for a quantity that is set.

        Args:
            quantity: A row of the table ``config_fields``.
            section: A row of the table ``config_sections``: configurations at matching paths come first.

        Returns:
            Name, ``config.vision_config.image_size``, and value of the field; ``("", None)`` if there is none.
        """
        inside = get_table("config_sections").get(section)
        for path, part in sorted(self._parts, key=lambda part: not (inside and re.search(inside, part[0]))):
            for name in get_table("config_fields")[quantity]:
                value = getattr(part, name, None)
                if value is not None and not callable(value) and not isinstance(value, str):
                    return f"config{path}.{name}", value
        return "", None

    def number(self, quantity: str, section: str = "", default: int = 0) -> tuple[str, int]:
        """As `get`, for a whole number; the first of several where the value is a list."""
        field, value = self.get(quantity, section)
        value = value[0] if isinstance(value, list | tuple) and value else value
        return (field, value) if isinstance(value, int) and value > 0 else ("", default)

    def image(self) -> tuple[str, int, tuple[Any, Any]]:
        """The field with the size of an image, its channels, and its height and width."""
        field, value = self.get("image size", "vision")
        _, channels = self.number("image channels", "vision", 3)
        sides = _sides(value)
        return (field, channels, sides) if sides else ("", channels, ("<size>", "<size>"))


def _is_config(value: Any) -> bool:
    return type(value).__name__.endswith("Config") and hasattr(value, "__dict__") and hasattr(value, "model_type")


def _sides(value: Any) -> tuple[Any, Any] | None:
    """Height and width of an image size in any of the usual notations."""
    if isinstance(value, int) and value > 0:
        return value, value
    if isinstance(value, list | tuple):
        last = value[-2:]
        return (last[0], last[-1]) if last and all(isinstance(side, int) for side in last) else None
    if isinstance(value, dict) and isinstance(value.get("height"), int):
        return value["height"], value["width"]
    return None
