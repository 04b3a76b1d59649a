"""Finds the passes of a model of transformers that generates: it is asked to, and its calls are kept."""

from __future__ import annotations

import contextlib
import copy
import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from modeldiagrams.errors import TargetError
from modeldiagrams.resolve.code.forward import get_parameters
from modeldiagrams.resolve.code.user_code import user_code
from modeldiagrams.resolve.parts import Writes
from modeldiagrams.tracer.restore import restored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import nn

__all__ = ["GenerationCall", "find_generation_calls", "is_given"]

_NOT_GIVEN = ("decoder_", "labels", "past_key_values", "return_dict", "use_cache")
"""Beginnings of inputs of a forward that `generate` makes itself."""


class GenerationCall(NamedTuple):
    """One pass."""

    text: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    entry: Callable[..., Any] | None = None
    """What runs in place of the model's forward."""


class _EnoughError(BaseException):
    """Ends the generation; no `Exception`, because models may catch these."""


def find_generation_calls(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> dict[str, GenerationCall]:
    """Let a model generate two tokens, and keep the arguments of its passes.

    Args:
        model: The model.
        args: Arguments of its forward, of which `generate` gets those that it takes.
        kwargs: The same by name.
        name: The author's name for it, for messages.

    Returns:
        Name of the case → its call: `encode` if the model has an encoder, `prefill` and `decode`.

    Raises:
        TargetError: if it can't generate.
    """
    if not callable(getattr(model, "generate", None)):
        raise TargetError(
            f"option `cases`: {name} has no method `generate`; write the cases by name, `{{first: {{…}}, next: {{…}}}}`"
        )
    given = {**dict(zip(get_parameters(model.forward), args, strict=False)), **kwargs}
    given = {key: value for key, value in given.items() if is_given(key)}
    is_meta = any(parameter.is_meta for parameter in model.parameters())
    if is_meta:
        given = pytree.tree_map_only(Tensor, lambda tensor: tensor.to("meta"), given)
    found: dict[str, GenerationCall] = {}
    is_encoding = getattr(getattr(model, "config", None), "is_encoder_decoder", False)
    encoder = model.get_encoder() if is_encoding else None
    if encoder is not None and _lacks_start(model):
        given["decoder_start_token_id"] = 0
    answers = _Answers() if is_meta else contextlib.nullcontext()
    with (
        restored(model, given, ()) as snapshot,
        contextlib.suppress(_EnoughError),
        _keep_calls(model, encoder, found),
        user_code(f"{name}.generate"),
        torch.no_grad(),
        Writes(snapshot.before_write),
        answers,
    ):
        # a model without values can't see whether it has ended
        model._has_unfinished_sequences = lambda *_, **__: True  # noqa: SLF001
        model.generate(**given, max_new_tokens=3, do_sample=False, use_cache=True)
    if "decode" not in found:
        raise TargetError(f"option `cases`: {name}.generate made fewer than two passes; write the cases by name")
    return found


def is_given(name: str) -> bool:
    """Whether `generate` gets an input of the forward; others it makes itself."""
    return not name.startswith(_NOT_GIVEN)


class _Answers(TorchFunctionMode):
    """Answers what Python asks a tensor without values: no, or 0. Copies have zeros, which can run on any device."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run a function of torch."""
        if func is Tensor.__deepcopy__:
            return torch.zeros(args[0].shape, dtype=args[0].dtype)
        kind = _ASKED.get(func)
        return func(*args, **(kwargs or {})) if kind is None or not args[0].is_meta else kind(0)


_ASKED: dict[Any, type] = {Tensor.__bool__: bool, Tensor.item: int, Tensor.__int__: int, Tensor.__index__: int}


def _lacks_start(model: Any) -> bool:
    """Whether the configuration doesn't say with which token a decoder starts, as default ones don't."""
    tokens = ("decoder_start_token_id", "bos_token_id")
    return all(getattr(model.generation_config, token, None) is None for token in tokens)


@contextlib.contextmanager
def _keep_calls(model: nn.Module, encoder: nn.Module | None, found: dict[str, GenerationCall]) -> Iterator[None]:
    """Keep the arguments of calls as they are before, because caches change."""

    def keep(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        name, text = ("decode", "its second call") if "prefill" in found else ("prefill", "its first call")
        found[name] = GenerationCall(f"generate, {text}", *copy.deepcopy((args, kwargs)))
        if name == "decode":
            raise _EnoughError

    def keep_encoder(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        @functools.wraps(module.forward)
        def encode(*args: Any, **kwargs: Any) -> Any:
            return module(*args, **kwargs)

        if not found:
            text = "generate, the call of the encoder"
            found["encode"] = GenerationCall(text, *copy.deepcopy((args, kwargs)), encode)

    hooks = [model.register_forward_pre_hook(keep, with_kwargs=True)]
    hooks += [encoder.register_forward_pre_hook(keep_encoder, with_kwargs=True)] if encoder is not None else []
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
