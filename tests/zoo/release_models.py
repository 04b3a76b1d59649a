"""Eight models as the `transformers` that can be imported builds them: ``python release_models.py FOLDER``.

For each, the graph of one pass, its weights and its outputs go into the folder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers

import modeldiagrams

TOKENS = torch.arange(10, 22)[None]
SIZES: dict[str, Any] = {
    "vocab_size": 128,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}
GROUPED = {**SIZES, "num_key_value_heads": 2}
T5 = {"vocab_size": 128, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
GPT2 = {"vocab_size": 128, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
IMAGE = {"image_size": 32, "patch_size": 8}
WHISPER = {
    "vocab_size": 128,
    "d_model": 32,
    "num_mel_bins": 8,
    "max_source_positions": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 1,
    "decoder_start_token_id": 1,
}


class Known(NamedTuple):
    """A class, what its configuration gets, and the inputs of one call."""

    name: str
    settings: dict[str, Any]
    inputs: Callable[[], dict[str, torch.Tensor]]


def tokens() -> dict[str, torch.Tensor]:
    return {"input_ids": TOKENS}


def both_tokens() -> dict[str, torch.Tensor]:
    return {"input_ids": TOKENS, "decoder_input_ids": TOKENS[:, :7]}


def image() -> dict[str, torch.Tensor]:
    return {"pixel_values": torch.rand(1, 3, 32, 32)}


def speech() -> dict[str, torch.Tensor]:
    return {"input_features": torch.rand(1, 8, 32), "decoder_input_ids": TOKENS[:, :7]}


MODELS = {
    "bert": Known("BertForMaskedLM", SIZES, tokens),
    "gpt2": Known("GPT2LMHeadModel", GPT2, tokens),
    "llama": Known("LlamaForCausalLM", GROUPED, tokens),
    "mixtral": Known("MixtralForCausalLM", {**GROUPED, "num_local_experts": 4}, tokens),
    "qwen2": Known("Qwen2ForCausalLM", GROUPED, tokens),
    "t5": Known("T5ForConditionalGeneration", T5, both_tokens),
    "vit": Known("ViTForImageClassification", {**SIZES, **IMAGE}, image),
    "whisper": Known("WhisperForConditionalGeneration", WHISPER, speech),
}


def made(name: str) -> torch.nn.Module:
    """The model, in eval mode."""
    known = MODELS[name]
    torch.manual_seed(0)
    cls = getattr(transformers, known.name)
    settings = {key: value for key, value in known.settings.items() if name != "vit" or key != "vocab_size"}
    return cls(cls.config_class(**settings)).eval()


def logits(model: torch.nn.Module, name: str) -> torch.Tensor:
    torch.manual_seed(1)
    with torch.no_grad():
        return model(**MODELS[name].inputs()).logits


def main(folder: Path) -> None:
    transformers.logging.set_verbosity_error()
    for name, known in MODELS.items():
        model = made(name)
        torch.manual_seed(1)
        modeldiagrams.save(modeldiagrams.trace(model, (), known.inputs()), folder / f"{name}.json")
        torch.save({"weights": model.state_dict(), "logits": logits(model, name)}, folder / f"{name}.pt")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
