"""Values of constructor parameters that have no default (rule 3): by name, where a convention is unmistakable."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from modeldiagrams.target.forward import parameters_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["conventional_arguments", "required_parameters"]

_WIDTHS = (
    r"(hidden|embed(ding)?|emb|model|d|n|attention|attn|token|word|edge)_?"
    r"(size|dims?|dimension|model|embd?|channels|features|units|hid(den)?)"
    r"|dim|width|units|hidden|d_model|n_?embd|ninp|nhid|features|embed|emb"
)
_NAMES: tuple[tuple[str, Any], ...] = (
    (r"(n|num|nb)_?(classes|class|labels|actions|outputs)|classes|nclass|n_?cls|action_dim|num_actions", 10),
    (r"(in|input|image|img)_?(channels?|chans?|ch|planes)|channels|n_?channels|num_channels|chans|in_c|c_in", 3),
    (r"(out|output)_?(channels?|chans?|ch|planes)|planes|filters|n_?filters|num_filters|base_?(channels|ch)|c_out", 8),
    (
        r"(vocab|vocabulary|dict)_?size|n_?(tokens?|vocab|words)|num_?(tokens|embeddings|words)|vocab|.*_vocab(_size)?",
        100,
    ),
    (r"(n|num)_?(users|items|entities|relations|nodes|features_sparse)", 50),
    (r"(n_?|num_?)?(attention_?)?heads?|n_?heads|nhead", 4),
    (r"(n_?|num_?)?(hidden_?|encoder_?|decoder_?)?(layers?|blocks|stages)|depth|n_?blocks|repeats", 2),
    (r"(n_?|num_?)?experts", 4),
    (r"top_?k|k", 2),
    (r"kernel_?size|kernel|ks", 3),
    (r"stride|dilation|groups|expansion|scale(_factor)?", 1),
    (r"padding", 1),
    (r"(im(a)?ge?|img|input)_?(size|resolution)_?(px)?|image_?(height|width)|resolution", 32),
    (r"patch_?size", 8),
    (r"(max_?)?(seq|sequence|context|block)(uence)?_?(len(gth)?|size)|max_?(len|length|positions?)|seq_?len", 64),
    (r"(drop(out)?|p_?drop|attn_drop|dropout_?(rate|p|prob)|drop_?rate|drop_?prob)", 0.1),
    (
        r"(in|input|feature|obs|observation|state|node|x)_?(features?|dim|dims|size|width)|n_?(features|inputs)|in_|n_in",
        16,
    ),
    (r"(out|output|target|y)_?(features?|dim|dims|size|width)|n_?out|act_?dim", 8),
    (r"(latent|z|bottleneck|code|noise)_?(dim|dims|size|features|channels)?|nz", 16),
    (r"(ff|ffn|mlp|feed_?forward|intermediate|dim_feedforward|inner)_?(dim|size|hidden)?|d_ff|dim_feedforward", 128),
    (_WIDTHS, 64),
    (r"bias|.*_bias|batch_first|causal|residual|bidirectional", True),
)
_LISTS: tuple[tuple[str, Any], ...] = (
    (r"layers|depths?|(n_?|num_?)?blocks|repeats", [2, 2]),
    (r"(image|img|input)_?(size|shape)|resolution", [32, 32]),
    (r"(in|input|obs)_?shape", [3, 32, 32]),
    (r"(hidden|layer|channel|width|dim|filter|size|unit|feature)\w*|channels|planes", [16, 32]),
    (r"kernel_?sizes?|kernels", [3, 5]),
)


_FITTING = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}
"""Annotation → types of values that it allows."""


def required_parameters(found: Callable[..., Any]) -> list[inspect.Parameter]:
    """Parameters that must be given, in order; none where a signature can't be read."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p for p in parameters_of(found).values() if p.default is inspect.Parameter.empty and p.kind not in variadic]


def conventional_arguments(found: Callable[..., Any]) -> dict[str, Any] | None:
    """Keyword arguments for all required parameters.

    Args:
        found: A class or a factory.

    Returns:
        Parameter → plain value; None if one of them has a name that tells nothing, or can't be given by name.
    """
    arguments: dict[str, Any] = {}
    for parameter in required_parameters(found):
        value = _value(parameter)
        if value is None or parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            return None
        arguments[parameter.name] = value
    return arguments


def configuration_class(found: Callable[..., Any]) -> type | None:
    """The class that annotates the one required parameter, if it is a configuration: all its fields have defaults."""
    required = required_parameters(found)
    if len(required) != 1 or not re.fullmatch(
        r"\w*(config|configuration|cfg|args|hparams|params|settings)", required[0].name
    ):
        return None
    annotation = _annotation(found, required[0])
    if not inspect.isclass(annotation) or annotation.__module__ == "builtins" or required_parameters(annotation):
        return None
    return annotation


def _annotation(found: Any, parameter: inspect.Parameter) -> Any:
    """A parameter's annotation; text (``from __future__ import annotations``) is looked up."""
    annotation = parameter.annotation
    if not isinstance(annotation, str):
        return annotation
    function = found.__init__ if inspect.isclass(found) else found
    return getattr(inspect.unwrap(function), "__globals__", {}).get(annotation.strip("'\""))


def _value(parameter: inspect.Parameter) -> Any:
    """The conventional value; None if there is none."""
    annotation = parameter.annotation
    written = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "") or str(annotation)
    name = parameter.name.lower()
    if re.search(r"(list|tuple|sequence|iterable)", str(annotation).lower()):
        return _first(_LISTS, name)
    known = _first(_NAMES, name)
    if known is None and annotation is inspect.Parameter.empty:
        known = _first(_LISTS, name) if name.endswith("s") else None
    return known if type(known) in _FITTING.get(written, (type(known),)) else None


def _first(table: tuple[tuple[str, Any], ...], name: str) -> Any:
    return next((value for pattern, value in table if re.fullmatch(pattern, name)), None)
