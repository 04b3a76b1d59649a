"""Small models of transformers, with random weights."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import ones, randn

from named_sizes.known import add, fixed, free, loop, tokens
from zoo.architectures import SPECIAL
from zoo.small import small_model

MOST = 64
"""The most positions, where they are learnt."""


def small(kind: str, **more: Any) -> torch.nn.Module:
    """A small model of a type, with the settings that the zoo gives it."""
    settings: Mapping[str, Any] = SPECIAL[kind].settings if kind in SPECIAL else {}
    return small_model(kind, {**settings, **more})


def text(B: int, T: int) -> dict[str, torch.Tensor]:
    """Tokens alone."""
    return {"input_ids": tokens(B, T, vocabulary=200)}


def masked(B: int, T: int) -> dict[str, torch.Tensor]:
    """Tokens, and which of them count: all."""
    return {**text(B, T), "attention_mask": ones(B, T, dtype=torch.int64)}


def pair(B: int, S: int, T: int) -> dict[str, torch.Tensor]:
    """Tokens for an encoder and for a decoder."""
    return {"input_ids": tokens(B, S, vocabulary=200), "decoder_input_ids": tokens(B, T, vocabulary=200)}


def picture(B: int, H: int, W: int) -> dict[str, torch.Tensor]:
    """Pictures in colour."""
    return {"pixel_values": randn(B, 3, H, W)}


WITH_MASK = {"bert", "gpt2", "electra", "llama", "bloom", "qwen2"}
LEARNT = "bert electra opt albert distilbert ernie megatron-bert rembert biogpt gpt2 openai-gpt roberta camembert"
for kind in LEARNT.split():
    setting = "n_positions" if "gpt" in kind and kind != "biogpt" else "max_position_embeddings"
    count = MOST - 2 if kind in {"roberta", "camembert"} else MOST  # which start at 2
    more = {"pad_token_id": 1} if count < MOST else {}
    inputs = masked if kind in WITH_MASK else text
    add(
        f"transformers {kind}",
        partial(small, kind, **{setting: MOST}, **more),
        inputs,
        B=free(2),
        T=free(12, most=count),
    )
COMPUTED = """llama mistral qwen2 qwen3 gemma gemma2 phi3 olmo2 falcon gpt_neox gptj bloom mpt stablelm cohere persimmon
    deberta-v2 modernbert roformer mixtral qwen2_moe olmoe"""
for kind in COMPUTED.split():
    add(f"transformers {kind}", partial(small, kind), masked if kind in WITH_MASK else text, B=free(2), T=free(12))
add("transformers mpnet", partial(small, "mpnet"), text, B=free(2), T=free(12, most=512))
for kind in ("t5", "mt5", "bart", "pegasus", "marian"):
    most = {} if "t5" in kind else {"most": 1024}  # T5 leaves out a step where T = 1, as in a cache
    add(f"transformers {kind}", partial(small, kind), pair, B=free(2), S=free(12, **most), T=free(7, least=2, **most))
add("transformers mamba", partial(small, "mamba"), text, B=free(2), T=loop(6, least=4))
add("transformers longformer", partial(small, "longformer", attention_window=[4, 4]), text, B=free(2), T=free(16, 4))

OWN_SIZE = {"B": free(2), "H": fixed(64, "its own picture size"), "W": fixed(64, "its own picture size")}
for kind in ("vit", "deit", "beit", "dinov2", "yolos"):  # the last two interpolate positions at all other sizes
    size = [64, 64] if kind == "yolos" else 64
    add(f"transformers {kind}", partial(small, kind, image_size=size, patch_size=16), picture, **OWN_SIZE)
STAGES = {"B": free(2), "H": free(64, 32, least=64), "W": free(96, 32, least=64)}
for kind in ("resnet", "convnext", "regnet", "mobilenet_v2", "segformer", "poolformer", "pvt_v2", "swiftformer"):
    add(f"transformers {kind}", partial(small, kind), picture, **STAGES)
SWIN = {"image_size": 64, "patch_size": 4, "window_size": 4, "depths": [1, 1], "embed_dim": 16, "num_heads": [2, 2]}
add("transformers swin", partial(small, "swin", **SWIN), picture, **STAGES)
for kind in ("wav2vec2", "hubert"):
    sound = {"B": free(2), "L": free(4000, least=800)}
    add(f"transformers {kind}", partial(small, kind), lambda B, L: {"input_values": randn(B, L)}, **sound)
add(
    "transformers whisper",
    partial(small, "whisper", max_source_positions=30, num_mel_bins=20),
    lambda B, F, T: {"input_features": randn(B, 20, F), "decoder_input_ids": tokens(B, T)},
    B=free(2),
    F=fixed(60, "the encoder takes 60 frames"),
    T=free(7, most=448),
)
add(
    "transformers clip",
    partial(small, "clip", vision_config={"image_size": 64, "patch_size": 16}),
    lambda B, T, B2, H, W: {"input_ids": tokens(B, T), "pixel_values": randn(B2, 3, H, W)},
    **{**OWN_SIZE, "B": free(3), "T": free(9, most=77), "B2": free(2)},
)
