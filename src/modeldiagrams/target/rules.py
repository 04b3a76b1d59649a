"""Example inputs for a model whose author gave none. Every rule says what it assumed, or leaves it to the next.

1. Hugging Face: a model with `main_input_name` and `config` gets token ids below the vocabulary's size, or an image of
   the configured size; encoder-decoders get decoder token ids as well.
2. A `forward` without required parameters is called with nothing.

Otherwise the author is told which option to write.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch

from modeldiagrams.errors import TargetError
from modeldiagrams.graph import Assumption

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["infer_inputs"]

_TOKENS = 16
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

Inferred = tuple[tuple[Any, ...], dict[str, Any], tuple[Assumption, ...]]


def infer_inputs(model: torch.nn.Module, name: str) -> Inferred:
    """Example inputs by the first rule that fits.

    Args:
        model: What will be called.
        name: How the author calls it, for the message.

    Returns:
        Positional arguments, keyword arguments, and what was assumed.

    Raises:
        TargetError: if no rule fits, naming the option to write.
    """
    parameters = inspect.signature(model.forward).parameters
    by_convention = _hugging_face(model, frozenset(parameters))
    if by_convention is not None:
        return by_convention
    required = [key for key, parameter in parameters.items() if parameter.default is inspect.Parameter.empty]
    if not required:
        nothing = Assumption(subject="inputs", value="none", reason="forward has no required parameters")
        return (), {}, (nothing,)
    names = [key for key in required if parameters[key].kind not in _VARIADIC]
    example = "{" + ", ".join(f"{key}: [1, 8]" for key in names) + "}" if names else "[[1, 8]]"
    raise TargetError(
        f"{name} needs example inputs: its forward takes {', '.join(parameters)}; write the option `inputs`, "
        f"e.g. `inputs: {example}` with the right shapes"
    )


def _hugging_face(model: torch.nn.Module, parameters: frozenset[str]) -> Inferred | None:
    main: Any = getattr(model, "main_input_name", None)
    config: Any = getattr(model, "config", None)
    make = _MAKERS.get(main) if config is not None else None
    made = make(config) if make else None
    if made is None:
        return None
    tensor, reason = made
    inputs = {main: tensor}
    if main == "input_ids" and getattr(config, "is_encoder_decoder", False) and "decoder_input_ids" in parameters:
        inputs["decoder_input_ids"] = tensor.clone()
    return (), inputs, tuple(_assumed(key, value, reason) for key, value in inputs.items())


def _assumed(name: str, value: torch.Tensor, reason: str) -> Assumption:
    dtype = str(value.dtype).removeprefix("torch.")
    return Assumption(subject=f"inputs.{name}", value=f"{dtype} {list(value.shape)}", reason=reason)


def _token_ids(config: Any) -> tuple[torch.Tensor, str] | None:
    """One sequence of token ids, as long as short models allow."""
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    size = getattr(text, "vocab_size", None)
    if not isinstance(size, int) or size < 1:
        return None
    longest = getattr(text, "max_position_embeddings", None)
    length = min(_TOKENS, longest) if isinstance(longest, int) and longest > 0 else _TOKENS
    ids = torch.randint(0, size, (1, length), generator=torch.Generator().manual_seed(0))
    return ids, f"main_input_name is input_ids, ids are below config.vocab_size {size}"


def _pixel_values(config: Any) -> tuple[torch.Tensor, str] | None:
    """One image of the configured size."""
    size = getattr(config, "image_size", None)
    height, width = size if isinstance(size, list | tuple) else (size, size)
    if not isinstance(height, int) or not isinstance(width, int):
        return None
    channels = getattr(config, "num_channels", 3)
    image = torch.randn((1, channels, height, width), generator=torch.Generator().manual_seed(0))
    return image, f"main_input_name is pixel_values, config.image_size is {size}"


_MAKERS: dict[Any, Callable[[Any], tuple[torch.Tensor, str] | None]] = {
    "input_ids": _token_ids,
    "pixel_values": _pixel_values,
}
