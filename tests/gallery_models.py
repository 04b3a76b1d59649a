"""Models by the shape of their wiring, for judging pictures: those of the demo site, with inputs to run them on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import transformers
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))

import demo_models


class Case(NamedTuple):
    """How to make a model, and the arguments of its forward."""

    make: Callable[[], nn.Module]
    inputs: dict[str, Any]


IMAGE = {"image": torch.zeros(1, 3, 64, 64)}
TOKENS = torch.zeros(1, 6, dtype=torch.int64)
SMALL = {"num_hidden_layers": 3, "hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4}


def mixtral() -> nn.Module:
    config = transformers.MixtralConfig(**SMALL, num_key_value_heads=2, vocab_size=100)
    return transformers.MixtralForCausalLM(config)


def t5() -> nn.Module:
    config = transformers.T5Config(d_model=32, d_kv=8, d_ff=64, num_layers=3, num_heads=4, vocab_size=100)
    return transformers.T5ForConditionalGeneration(config)


MODELS: dict[str, Case] = {
    "residual": Case(demo_models.ResidualCNN, IMAGE),
    "dense": Case(demo_models.DenseNet, IMAGE),
    "inception": Case(demo_models.Inception, IMAGE),
    "unet": Case(demo_models.UNet, IMAGE),
    "generator": Case(demo_models.Generator, {"noise": torch.zeros(1, 100)}),
    "searched": Case(demo_models.SearchedNet, IMAGE),
    "lstm": Case(demo_models.LSTMClassifier, {"tokens": TOKENS, "mask": torch.ones(1, 6)}),
    "lstm_loop": Case(demo_models.LSTMLoop, {"sequence": torch.zeros(1, 6, 32)}),
    "graph_network": Case(
        demo_models.GraphNetwork,
        {"atoms": torch.zeros(9, dtype=torch.int64), "bonds": torch.zeros(2, 20, dtype=torch.int64)},
    ),
    "transformer": Case(
        lambda: nn.Transformer(32, 4, 2, 2, 64, batch_first=True),
        {"src": torch.zeros(1, 8, 32), "tgt": torch.zeros(1, 6, 32)},
    ),
    "bert": Case(lambda: transformers.BertModel(transformers.BertConfig(**SMALL)), {"input_ids": TOKENS}),
    "gpt2": Case(
        lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=3, n_embd=32, n_head=4)),
        {"input_ids": TOKENS},
    ),
    "vit": Case(
        lambda: transformers.ViTForImageClassification(transformers.ViTConfig(**SMALL, image_size=64)),
        {"pixel_values": IMAGE["image"]},
    ),
    "t5": Case(t5, {"input_ids": TOKENS, "decoder_input_ids": TOKENS}),
    "mixtral": Case(mixtral, {"input_ids": TOKENS}),
}
