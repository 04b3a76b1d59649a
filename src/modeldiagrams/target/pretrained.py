"""What a Hugging Face model takes, from its configuration and its forward's parameter names (rule 2).

No table of classes: `main_input_name` says what it is about, the names of the other parameters what they hold, and the
configuration, with the configurations inside it, how large that is.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.forward import parameters_of
from modeldiagrams.target.offers import ABSENT, Offer, ids, ones

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from torch import nn

__all__ = ["configured_offers"]

_EMBEDDED = "inputs_embeds"
_TOKENS = 16
_WAVE = 4000
"""Samples of a sound: a quarter of a second, some frames after every usual stride."""
_ROUND_WAVE = 15_360
"""For models that want whole frames: a multiple of every usual stride."""
_COLOURS = 3
_GRID = 4
"""Patches per side, and per time, of images given as a list of patches."""
_NEVER = re.compile(
    r"labels?|.*_labels?|.*_positions?|past_key_values|.*cache.*|use_.*|output_.*|return_.*|.*head_mask|.*_dict|"
    r"position_ids|decoder_position_ids|token_type_ids|inputs_embeds|decoder_inputs_embeds|encoder_outputs|"
    r"mm_.*|.*_index|logits_to_keep|attention_mask|decoder_attention_mask|cross_attention_mask|interpolate_.*|kwargs|"
    r"encoder_hidden_states|encoder_attention_mask|.*_masks_seq|state"
)
"""Optional parameters that change nothing of the architecture, or that need more than a shape."""


def configured_offers(model: nn.Module) -> Iterator[dict[str | int, Sequence[Offer]]]:
    """Candidates for a model with a configuration.

    Args:
        model: Has `config`, `main_input_name` and a `forward`.

    Yields:
        Input → candidates: the main input and what is required are given, what is optional is left out first; then the
        same with embeddings in place of token ids. Nothing for a model that is not configured in this way.
    """
    config: Any = getattr(model, "config", None)
    main: Any = getattr(model, "main_input_name", None)
    if config is None or not isinstance(main, str):
        return
    values = _Values(config)
    parameters = parameters_of(model.forward)
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = sorted((name for name, p in parameters.items() if p.kind not in variadic), key=lambda name: name != main)
    required = {name for name in names if parameters[name].default is inspect.Parameter.empty}
    given = {main, *required} & {*names}
    if getattr(config, "is_encoder_decoder", False):
        given |= {"decoder_input_ids"} & {*names}
    offers: dict[str | int, Sequence[Offer]] = {}
    for name in names:
        known = list(_offers(name, values, fallback=name in required))
        if known and (name in given or not _NEVER.fullmatch(name)):
            offers[name] = known if name in given else [ABSENT, *known]
    if offers and all(options[0] is ABSENT for options in offers.values()):
        first = next(iter(offers))  # the main input is not a parameter: then the first that is known
        offers[first] = offers[first][1:]
    yield offers
    if _EMBEDDED in names and "input_ids" in offers:
        yield {
            _EMBEDDED: [*_embedded(values)],
            **{name: offer for name, offer in offers.items() if name != "input_ids"},
        }


class _Values:
    """Reads sizes from a configuration and from those inside it."""

    def __init__(self, config: Any) -> None:
        self._parts: list[tuple[str, Any]] = [("", config)]
        seen = {id(config)}
        for path, part in self._parts:
            for name, value in sorted(getattr(part, "__dict__", {}).items()):
                if _is_config(value) and id(value) not in seen:
                    seen.add(id(value))
                    self._parts.append((f"{path}.{name}", value))

    def get(self, names: str, inside: str = "") -> tuple[str, Any]:
        """Name and value of the first of several names that is set.

        Args:
            names: Separated by spaces, the most telling first.
            inside: Regular expression; configurations at matching paths come first.

        Returns:
            Where it stands, ``config.vision_config.image_size``, and the value; ``("", None)`` if there is none.
        """
        parts = sorted(self._parts, key=lambda part: not (inside and re.search(inside, part[0])))
        for path, part in parts:
            for name in names.split():
                value = getattr(part, name, None)
                if value is not None and not callable(value) and not isinstance(value, str):
                    return f"config{path}.{name}", value
        return "", None

    def number(self, names: str, inside: str = "", default: int = 0) -> tuple[str, int]:
        """As `get`, for a whole number; the first of several where the value is a list."""
        place, value = self.get(names, inside)
        value = value[0] if isinstance(value, list | tuple) and value else value
        return (place, value) if isinstance(value, int) and value > 0 else ("", default)


def _is_config(value: Any) -> bool:
    return type(value).__name__.endswith("Config") and hasattr(value, "__dict__") and hasattr(value, "model_type")


def _offers(name: str, values: _Values, *, fallback: bool) -> Iterator[Offer]:
    """Candidates for one parameter, by its name."""
    for pattern, make in _BY_NAME:
        if re.fullmatch(pattern, name):
            yield from make(name, values)
            return
    if fallback:
        yield from _states(name, values)


def _token_ids(name: str, values: _Values) -> Iterator[Offer]:
    inside = "decoder" if name.startswith("decoder") else "text|decoder|llm|language|thinker"
    place, size = values.number("vocab_size n_vocab num_embeddings vocabulary_size codebook_size", inside, 100)
    _, longest = values.number("max_position_embeddings n_positions", inside, _TOKENS)
    reason = f"ids are below {place} {size}" if place else "a usual size"
    yield Offer(ids([1, min(_TOKENS, longest)], size), reason)
    yield from _codes(size, values)
    mark, end = values.number("eos_token_id", inside)
    if mark and end < size:
        entry = {"shape": [1, min(_TOKENS, longest)], "dtype": "int64", "low": end, "high": end + 1}
        yield Offer(entry, f"the model looks for {mark} {end}")
    yield Offer(ids([1, 2, min(_TOKENS, longest)], size), f"{reason}, two choices")
    yield Offer(ids([1, min(4 * _TOKENS, longest)], size), reason)


def _codes(size: int, values: _Values) -> Iterator[Offer]:
    """Ids of sound: several at every step, one for each codebook, and perhaps one of text before them."""
    place, books = values.number("num_codebooks num_quantizers n_codes_total", "audio|decoder")
    _, other = values.number("codebook_vocab_size audio_vocab_size codebook_size", default=size)
    for count in (books, books + 1) if place else ():
        for shape in ([1, _TOKENS, count], [1, count, _TOKENS]):
            yield Offer(ids(shape, min(size, other)), f"ids of {place} {books} codebooks")


def _embedded(values: _Values) -> Iterator[Offer]:
    """Embeddings of tokens."""
    for inside in ("text|decoder|llm|language|thinker", "encoder", ""):
        place, width = values.number("hidden_size d_model embed_dim n_embd dim", inside)
        if place:
            yield Offer([1, _TOKENS, width], f"embeddings as wide as {place} {width}, in place of token ids")


def _side(value: Any) -> tuple[Any, Any] | None:
    """Height and width of an image size written in any of the usual ways."""
    if isinstance(value, int) and value > 0:
        return value, value
    if isinstance(value, list | tuple):
        last = value[-2:]
        return (last[0], last[-1]) if last and all(isinstance(side, int) for side in last) else None
    if isinstance(value, dict) and isinstance(value.get("height"), int):
        return value["height"], value["width"]
    return None


_VISION = "vision|image|visual|backbone|encoder|vit"


def _image(values: _Values) -> tuple[str, int, tuple[Any, Any]]:
    """Where a configuration has an image's size, its channels, height and width."""
    place, value = values.get("image_size img_size input_size image_resolution crop_size max_img_size", _VISION)
    _, channels = values.number("num_channels in_channels in_chans num_input_channels", _VISION, 3)
    side = _side(value)
    return (place, channels, side) if side else ("", channels, ("<size>", "<size>"))


def _pixels(_: str, values: _Values) -> Iterator[Offer]:
    place, channels, (height, width) = _image(values)
    reason = f"an image of {place} {height}" if place else "an image of a usual size"
    _, frames = values.number("num_frames frames_per_clip crop_frames", default=2)
    image = Offer([1, channels, height, width], reason)
    video = [Offer([1, n, channels, height, width], f"{reason}, {n} frames") for n in dict.fromkeys((frames, 1, 2))]
    whole = [*video[:1], image, *video[1:]] if values.get("num_frames frames_per_clip")[0] else [image, *video]
    # a model that knows the size of its patches but not of its images may take them as patches
    yield from whole if place else whole[:1]
    yield from _patches("", values)
    yield from [] if place else whole[1:]
    yield Offer([frames, channels, height, width], f"{reason}, {frames} frames as a batch")
    if channels != _COLOURS:
        yield Offer([1, _COLOURS, height, width], reason)
    if place:
        for side in (224, 256, 384, 512, 1024, 1536):
            yield Offer([1, channels, side, side], "an image of a usual size")


def _videos(_: str, values: _Values) -> Iterator[Offer]:
    place, channels, (height, width) = _image(values)
    _, frames = values.number("num_frames frames_per_clip crop_frames", default=4)
    reason = f"{frames} frames of {place} {height}" if place else f"{frames} frames of a usual size"
    yield Offer([1, frames, channels, height, width], reason)
    yield from _patches("", values)


def _patches(_: str, values: _Values) -> Iterator[Offer]:
    """An image as a list of flattened patches."""
    place, side = values.number("patch_size spatial_patch_size", _VISION)
    _, channels = values.number("in_channels num_channels in_chans", _VISION, 3)
    _, times = values.number("temporal_patch_size", _VISION, 1)
    if place:
        count = _GRID**3
        width = channels * times * side * side
        yield Offer([count, width], f"{count} flattened patches of {place} {side}")
        yield Offer([1, count, width], f"{count} flattened patches of {place} {side}")
        yield Offer([count, channels, side, side], f"{count} patches of {place} {side}")


def _grid(_: str, __: _Values) -> Iterator[Offer]:
    entry = {"shape": [1, 3], "dtype": "int64", "low": _GRID, "high": _GRID + 1}
    yield Offer(entry, f"time, height and width in patches: {_GRID} each")


def _merged(_: str, __: _Values) -> Iterator[Offer]:
    yield Offer({"shape": [1], "dtype": "int64", "low": 1, "high": 2}, "no patches are merged")


def _sizes(_: str, values: _Values) -> Iterator[Offer]:
    """Height and width of an image: in patches, or in pixels."""
    place, _channels, (height, _width) = _image(values)
    _, patch = values.number("patch_size", _VISION, 1)
    for count, unit in ((height // patch, "patches"), (height, "pixels")) if place else ():
        entry = {"shape": [1, 2], "dtype": "int64", "low": count, "high": count + 1}
        yield Offer(entry, f"height and width of an image of {place} {height} in {unit}")


def _wave(_: str, values: _Values) -> Iterator[Offer]:
    place, bins = values.number("num_mel_bins n_mels")
    _, longest = values.number("max_length", default=128)
    spectrum = [Offer([1, longest, bins], f"a spectrum of {place} {bins}")] if place else []
    _, channels = values.number("audio_channels", default=1)
    waves = [
        Offer([1, _WAVE], f"a sound of {_WAVE} samples"),
        Offer([1, channels, _WAVE], f"a sound of {_WAVE} samples"),
        Offer([1, _ROUND_WAVE], f"a sound of {_ROUND_WAVE} samples"),
        Offer([1, 16 * _WAVE], f"a sound of {16 * _WAVE} samples"),
    ]
    yield from [*spectrum, *waves] if values.get("max_length")[0] else [*waves, *spectrum]
    yield from _token_ids("", values)


_AUDIO = "audio|speech|encoder"


def _spectrum(_: str, values: _Values) -> Iterator[Offer]:
    names = "num_mel_bins n_mels input_feat_per_channel feature_projection_input_dim feature_size input_dim mel_bins"
    place, bins = values.number(names, _AUDIO, 80)
    _, frames = values.number("max_source_positions", _AUDIO)
    reason = f"a spectrum of {place} {bins}" if place else "a spectrum of a usual size"
    if frames:
        yield Offer([1, bins, 2 * frames], f"{reason}, twice max_source_positions frames")
    for length in (128, 400, 1024):
        yield Offer([1, length, bins], reason)
        yield Offer([1, bins, length], reason)
        yield Offer([1, 1, length, bins], reason)
    if frames:
        yield Offer([1, bins, frames], reason)


def _mask(name: str, values: _Values) -> Iterator[Offer]:
    if re.search("pixel|image", name):
        _, _, (height, width) = _image(values)
        yield Offer(ones([1, height, width]), "hides nothing")
        yield Offer(ones([1, 1, height, width]), "hides nothing")
        return
    if name == "bool_masked_pos":
        _, _, (height, width) = _image(values)
        _, patch = values.number("patch_size", _VISION, 16)
        if isinstance(height, int):
            yield Offer(ones([1, (height // patch) * (width // patch)], "bool"), "every patch is masked")
        return
    yield Offer(ones([1, _TOKENS]), "hides nothing")
    yield Offer(ones([1, 128]), "hides nothing")
    yield Offer(ones([1, 1, _TOKENS, _TOKENS]), "hides nothing")


def _boxes(_: str, __: _Values) -> Iterator[Offer]:
    yield Offer({"shape": [1, _TOKENS, 4], "dtype": "int64", "high": 1}, "empty boxes")
    yield Offer([1, _TOKENS, 4], "one box for every token")


def _series(name: str, values: _Values) -> Iterator[Offer]:
    """Past and future of a time series."""
    place, length = values.number("context_length", default=_TOKENS)
    _, lags = values.get("lags_sequence")
    _, ahead = values.number("prediction_length", default=_TOKENS)
    length = length + max(lags) if isinstance(lags, list | tuple) and lags else length
    steps = ahead if name.startswith("future") else length
    reason = f"as long as {place or 'usual'}"
    if "time_features" in name:
        _, features = values.number("num_time_features", default=1)
        for count in dict.fromkeys((features, features + 2)):
            yield Offer([1, steps, count], reason)
        return
    _, channels = values.number("num_input_channels input_size", default=1)
    shapes = [[1, steps, channels], [1, steps]] if channels > 1 else [[1, steps], [1, steps, 1]]
    for shape in shapes:
        yield Offer(ones(shape) if "mask" in name else shape, reason)


def _states(_: str, values: _Values) -> Iterator[Offer]:
    place, width = values.number(
        "hidden_size d_model embed_dim n_embd hidden_dim dim in_channels d_latents", default=64
    )
    reason = f"as wide as {place} {width}" if place else "a usual size"
    yield from _patches("", values)
    yield Offer([1, _TOKENS, width], reason)
    yield Offer([_TOKENS, width], reason)
    yield Offer([1, width, _TOKENS], reason)
    yield Offer([1, width], reason)
    yield Offer([1, width, 8, 8], reason)
    yield Offer(ids([1, _TOKENS], 2), "whole numbers")
    yield Offer(ids([1], 2), "a whole number")


def _visual(name: str, values: _Values) -> Iterator[Offer]:
    """Regions of an image that a detector has found."""
    place, width = values.number("visual_feat_dim visual_embedding_dim", default=64)
    _, corners = values.number("visual_pos_dim", default=4)
    wide = not re.search("pos|bbox", name)
    yield Offer([1, 8, width if wide else corners], f"eight regions of {place} {width}" if wide else "their corners")


def _index(_: str, __: _Values) -> Iterator[Offer]:
    yield Offer({"value": 1}, "the first after the one that is given")


_BY_NAME: tuple[tuple[str, Callable[[str, _Values], Iterator[Offer]]], ...] = (
    (r"visual_(feats|pos|embeds)", _visual),
    (r"bbox|boxes|input_boxes", _boxes),
    (r".*grid_thw", _grid),
    (r"(image|target|original)_sizes", _sizes),
    (r"(spatial_)?merge_sizes?", _merged),
    (r"past_.*|future_.*", _series),
    (r"pixel_values_videos|videos?", _videos),
    (r"pixel_values.*|images?|pixels?|prompt_pixel_values|sample", _pixels),
    (r"flattened_patches", _patches),
    (r".*mask.*", _mask),
    (r"input_values|waveforms?|audio_values|speech", _wave),
    (r"input_features|.*spectrogram|mel.*", _spectrum),
    (r"codebook_idx", _index),
    (r".*ids|.*tokens|.*codes|src|tgt", _token_ids),
    (r"inputs|hidden_states|.*embeds|.*embeddings|.*states|.*latents", _states),
)
