"""The models the benchmarks run: those of the demo site, at the sizes people know, with random weights."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers
from torch import nn

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))

import demo_models


class Case(NamedTuple):
    """A model and the keyword arguments of its forward."""

    model: nn.Module
    inputs: dict[str, Any]


def tokens(vocabulary: int, length: int = 64) -> torch.Tensor:
    """Token ids `(1, length)`, int64."""
    return torch.arange(length)[None] % vocabulary


def bert() -> Case:
    config = transformers.BertConfig()
    return Case(transformers.BertModel(config), {"input_ids": tokens(config.vocab_size)})


def gpt2() -> Case:
    config = transformers.GPT2Config(use_cache=False)
    return Case(transformers.GPT2LMHeadModel(config), {"input_ids": tokens(config.vocab_size)})


def vit() -> Case:
    config = transformers.ViTConfig()
    return Case(transformers.ViTForImageClassification(config), {"pixel_values": torch.zeros(1, 3, 224, 224)})


def t5() -> Case:
    config = transformers.T5Config(use_cache=False)
    ids = tokens(config.vocab_size)
    return Case(transformers.T5ForConditionalGeneration(config), {"input_ids": ids, "decoder_input_ids": ids})


def mixtral() -> Case:
    config = transformers.MixtralConfig(
        num_hidden_layers=8,
        hidden_size=256,
        intermediate_size=512,
        num_attention_heads=8,
        num_key_value_heads=2,
        vocab_size=1000,
        use_cache=False,
    )
    return Case(transformers.MixtralForCausalLM(config), {"input_ids": tokens(1000)})


def toy_llama() -> Case:
    """Many layers, little arithmetic: what a trace costs per op shows most."""
    config = transformers.LlamaConfig(
        num_hidden_layers=48,
        hidden_size=64,
        intermediate_size=128,
        num_attention_heads=4,
        num_key_value_heads=4,
        vocab_size=1000,
        use_cache=False,
    )
    return Case(transformers.LlamaForCausalLM(config), {"input_ids": tokens(1000, 16)})


def torch_transformer() -> Case:
    model = nn.Transformer(64, 4, 3, 3, 128, batch_first=True)
    return Case(model, {"src": torch.zeros(1, 10, 64), "tgt": torch.zeros(1, 7, 64)})


def residual_cnn() -> Case:
    return Case(demo_models.ResidualCNN(), {"image": torch.zeros(1, 3, 224, 224)})


def lstm() -> Case:
    return Case(demo_models.LSTMClassifier(), {"tokens": tokens(1000, 16), "mask": torch.ones(1, 16, dtype=torch.bool)})


CASES: dict[str, Callable[[], Case]] = {
    "residual CNN": residual_cnn,
    "LSTM classifier": lstm,
    "nn.Transformer": torch_transformer,
    "BERT-base": bert,
    "GPT-2": gpt2,
    "ViT-base": vit,
    "T5-small": t5,
    "Mixtral, 8 small layers": mixtral,
    "Llama, 48 toy layers": toy_llama,
}


def prepared(name: str) -> Case:
    """The case in eval mode, the same weights every time."""
    torch.manual_seed(0)
    case = CASES[name]()
    case.model.eval()
    return case
