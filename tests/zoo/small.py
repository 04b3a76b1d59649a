"""Small versions of `transformers` architectures: any default configuration cut down, and inputs that fit it."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from transformers import CONFIG_MAPPING, MODEL_MAPPING, PretrainedConfig

WIDTH, HEADS, VOCABULARY, LENGTH = 64, 4, 512, 12

CAPS: tuple[tuple[str, int], ...] = (
    (r"(?!num_feat_extract|num_conv).*(layers?|blocks|depth)", 2),
    (r"(num_|n_)?(encoder_|decoder_)?(attention_|attn_)?heads?|num_.*_heads", HEADS),
    (r"rotary_dim|d_head|d_kv|head_size|kv_channels|.*head_dim", WIDTH // HEADS),
    (
        r"dim|n_embd|.*(d_model|model_dim|embed_dim|embed_size|embedding_size|projection_dim|hidden_dim|hidden_size)",
        WIDTH,
    ),
    (r".*(intermediate_size|ffn_dim|d_ff|ffn_hidden_size|n_inner|feed_forward_dim|mlp_dim|inner_dim).*", 2 * WIDTH),
    (r".*vocab_size.*", VOCABULARY),
    (r"(num_|n_)(local_|routed_)?experts|moe_num_experts", 4),
    (r"num_experts_per_tok|moe_topk|top_k", 2),
    (r"image_size|img_size|input_size", 64),
    (r"(q_lora|kv_lora)_rank", 32),
    (r"num_queries|num_query_tokens", 8),
)
"""Names of sizes and the most they may be."""


def small_config(kind: str, more: Mapping[str, Any]) -> PretrainedConfig:
    """The default configuration of a model type, made small.

    Args:
        kind: Key of `transformers.CONFIG_MAPPING`, as ``"bert"``.
        more: What to set beyond that; a mapping for a configuration inside.
    """
    return _small(CONFIG_MAPPING[kind], more)


def _small(class_: type[PretrainedConfig], more: Mapping[str, Any]) -> PretrainedConfig:
    default = class_()
    values = {field.name: vars(default).get(field.name) for field in dataclasses.fields(class_)}
    if "depths" in values:
        values = {}  # stages of growing width: lists that would no longer fit
    sizes = {name: _capped(name, value) for name, value in values.items() if type(value) is int}
    if values.get("num_key_value_heads") not in (None, values.get("num_attention_heads")):
        sizes["num_key_value_heads"] = 2
    inner = {}
    for name in class_.sub_configs:
        part = getattr(default, name, None)
        if isinstance(part, PretrainedConfig):
            inner[name] = _small(type(part), more.get(name, {}))
    return class_(**{**sizes, **inner, **{name: value for name, value in more.items() if name not in inner}})


def _capped(name: str, value: int) -> int:
    if name.endswith(("_token_id", "_token_index")):
        return value if value < VOCABULARY else VOCABULARY - 1 - value % 50
    for pattern, most in CAPS:
        if re.fullmatch(pattern, name):
            return min(value, most)
    return value


def small_model(kind: str, more: Mapping[str, Any]) -> nn.Module:
    """The base model of a type, in eval mode, with random weights."""
    config = small_config(kind, more)
    torch.manual_seed(0)
    class_ = MODEL_MAPPING[type(config)]
    return (class_[0] if isinstance(class_, tuple) else class_)(config).eval()


def tokens(length: int = LENGTH) -> torch.Tensor:
    """Token ids `(1, length)`, int64, none of them special."""
    return torch.arange(10, 10 + length)[None]


def fitting_inputs(model: Any) -> dict[str, torch.Tensor]:
    """Inputs by name: the main one, those the forward requires, and the decoder's."""
    config = model.config
    parameters = inspect.signature(model.forward).parameters
    required = [name for name, parameter in parameters.items() if parameter.default is parameter.empty]
    found = {}
    for name in dict.fromkeys([model.main_input_name, *required]):
        if name.endswith("input_ids"):
            found[name] = tokens()
        elif name == "pixel_values":
            size = _found(config, "image_size", "img_size") or 64
            channels = _found(config, "num_channels", "in_chans", "in_channels") or 3
            found[name] = torch.randn(1, channels, *(size if isinstance(size, list | tuple) else (size, size)))
        elif name == "input_features":
            length = 2 * (_found(config, "max_source_positions") or 50)
            found[name] = torch.randn(1, _found(config, "num_mel_bins", "feature_size") or 80, length)
        elif name == "input_values":
            found[name] = torch.randn(1, 4000)
    if getattr(config, "is_encoder_decoder", False) and "decoder_input_ids" in parameters:
        found["decoder_input_ids"] = tokens(7)
    return found


def _found(config: PretrainedConfig, *names: str) -> Any:
    """The first of these settings that is there, here or in a configuration inside."""
    for name in names:
        if vars(config).get(name) is not None:
            return vars(config)[name]
    parts = (vars(config).get(name) for name in type(config).sub_configs)
    return next((value for part in parts if part is not None and (value := _found(part, *names)) is not None), None)
