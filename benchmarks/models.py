"""The models of benchmarks: those of the demo site, in well-known sizes, with random weights."""

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

SEQUENCE = 128
"""Tokens for BERT and GPT-2: the length of 90 % of BERT's training steps."""


class Case(NamedTuple):
    """A model and the keyword arguments of its forward."""

    model: nn.Module
    inputs: dict[str, Any]


def tokens(vocabulary: int, length: int = 64) -> torch.Tensor:
    """Make token ids of shape `(1, length)`, int64."""
    return torch.arange(length)[None] % vocabulary


def bert() -> Case:
    config = transformers.BertConfig()
    return Case(transformers.BertModel(config), {"input_ids": tokens(config.vocab_size, SEQUENCE)})


def gpt2() -> Case:
    config = transformers.GPT2Config(use_cache=False)
    return Case(transformers.GPT2LMHeadModel(config), {"input_ids": tokens(config.vocab_size, SEQUENCE)})


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
    """Make a model with many layers and little arithmetic, to show the cost of a trace per op."""
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


class Bottleneck(nn.Module):
    """As in ResNet-50: narrow, convolve, widen, around a shortcut."""

    def __init__(self, given: int, width: int, stride: int) -> None:
        """Widths are in channels."""
        super().__init__()
        made = 4 * width
        self.narrow = self._convolution(given, width, 1, 1)
        self.middle = self._convolution(width, width, 3, stride)
        self.widen = self._convolution(width, made, 1, 1)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = self._convolution(given, made, 1, stride) if stride != 1 or given != made else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Images in, images out."""
        made = self.widen(self.relu(self.middle(self.relu(self.narrow(x)))))
        return self.relu(made + (x if self.shortcut is None else self.shortcut(x)))

    @staticmethod
    def _convolution(given: int, made: int, size: int, stride: int) -> nn.Module:
        return nn.Sequential(nn.Conv2d(given, made, size, stride, size // 2, bias=False), nn.BatchNorm2d(made))


def resnet50() -> Case:
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    blocks, given = [], 64
    for stage, depth in enumerate((3, 4, 6, 3)):
        for i in range(depth):
            width = 64 * 2**stage
            blocks.append(Bottleneck(given, width, 2 if i == 0 and stage > 0 else 1))
            given = 4 * width
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(given, 1000)]
    return Case(nn.Sequential(*stem, *blocks, *head), {"input": torch.zeros(1, 3, 224, 224)})


def lstm() -> Case:
    return Case(demo_models.LSTMClassifier(), {"tokens": tokens(1000, 16), "mask": torch.ones(1, 16, dtype=torch.bool)})


CASES: dict[str, Callable[[], Case]] = {
    "ResNet-50": resnet50,
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
    """Make a case in eval mode, always with the same weights."""
    torch.manual_seed(0)
    case = CASES[name]()
    case.model.eval()
    return case
