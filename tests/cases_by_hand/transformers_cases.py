"""Tiny models of transformers, with the ways that their arguments, their mode and values of tensors open."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
import transformers as hf
from torch import nn

from cases_by_hand.dynamic import Dynamic, numbers
from zoo.small import small_config, tokens


def make(class_: str, kind: str, **settings: Any) -> nn.Module:
    return getattr(hf, class_)(small_config(kind, settings))


def masked_vit() -> nn.Module:
    return hf.ViTModel(small_config("vit", {}), use_mask_token=True)


def padded(length: int = 12, real: int = 8) -> torch.Tensor:
    return (torch.arange(length) < real).long()[None]


def llama(model):
    past = model(tokens(6), use_cache=True).cache
    return {
        "prefill": {"kwargs": {"input_ids": tokens(6), "use_cache": True}},
        "decode": {"kwargs": {"input_ids": tokens(1), "cache": past}},
        "train": {"kwargs": {"input_ids": tokens(6), "labels": tokens(6)}, "training": True},
        "padded": {"kwargs": {"input_ids": tokens(12), "attention_mask": padded()}},
        "embedded": {"kwargs": {"inputs_embeds": numbers(1, 6, 64), "use_cache": False}},
    }


def gpt2(model):
    past = model(tokens(6), use_cache=True).cache
    return {
        "prefill": {"kwargs": {"input_ids": tokens(6)}},
        "decode": {"kwargs": {"input_ids": tokens(1), "cache": past}},
        "no cache": {"kwargs": {"input_ids": tokens(6), "use_cache": False}},
        "types": {"kwargs": {"input_ids": tokens(6), "token_type_ids": tokens(6), "attention_mask": padded(6, 4)}},
    }


def mixtral(_):
    words = torch.tensor([[3, 1, 400, 77]])
    return {
        "some tokens": {"kwargs": {"input_ids": tokens(4)}},
        "others": {"kwargs": {"input_ids": words}},
        "train": {"kwargs": {"input_ids": words, "labels": words, "output_router_logits": True}, "training": True},
    }


def switch(_):
    return {
        "short": {"kwargs": {"input_ids": tokens(3), "decoder_input_ids": tokens(2)}},
        "long": {"kwargs": {"input_ids": tokens(9), "decoder_input_ids": tokens(5)}},
        "train": {"kwargs": {"input_ids": tokens(9), "decoder_input_ids": tokens(5)}, "training": True},
    }


def longformer(_):
    ids = tokens(16)
    few = torch.zeros_like(ids)
    few[0, 0] = 1
    return {
        "local": {"kwargs": {"input_ids": ids, "attention_mask": torch.ones_like(ids)}},
        "global": {"kwargs": {"input_ids": ids, "global_attention_mask": few}},
        "unpadded": {"kwargs": {"input_ids": tokens(13), "attention_mask": torch.ones_like(tokens(13))}},
    }


def wav2vec2(_):
    sound = numbers(1, 4000)
    masked = {"mask_time_indices": torch.arange(12)[None] < 3}
    return {
        "eval": {"args": (sound,)},
        "masked": {"args": (sound,), "kwargs": masked, "training": True},
        "padded": {"args": (sound,), "kwargs": {"attention_mask": (torch.arange(4000) < 3000).long()[None]}},
    }


def bert(_):
    return {
        "plain": {"kwargs": {"input_ids": tokens()}},
        "padded": {"kwargs": {"input_ids": tokens(), "attention_mask": padded()}},
        "train": {"kwargs": {"input_ids": tokens(), "labels": torch.tensor([1])}, "training": True},
        "all states": {"kwargs": {"input_ids": tokens(), "output_hidden_states": True, "token_type_ids": padded()}},
    }


def bert_decoder(model):
    past = model(tokens(4), use_cache=True).cache
    states = numbers(1, 5, 64)
    return {
        "decoder": {"kwargs": {"input_ids": tokens(4)}},
        "across": {"kwargs": {"input_ids": tokens(4), "encoder_hidden_states": states}},
        "step": {"kwargs": {"input_ids": tokens(1), "cache": past}},
    }


def bart(model):
    encoded = model.model.encoder(tokens())
    past = model(tokens(), decoder_input_ids=tokens(4), use_cache=True).cache
    return {
        "text": {"kwargs": {"input_ids": tokens()}},
        "labels": {"kwargs": {"input_ids": tokens(), "labels": tokens()}, "training": True},
        "encoded": {"kwargs": {"encoder_outputs": encoded, "decoder_input_ids": tokens(4)}},
        "step": {"kwargs": {"encoder_outputs": encoded, "decoder_input_ids": tokens(1), "cache": past}},
    }


def t5(model):
    encoded = model.encoder(tokens())
    past = model(tokens(), decoder_input_ids=tokens(4), use_cache=True).cache
    return {
        "whole": {"kwargs": {"input_ids": tokens(), "decoder_input_ids": tokens(4)}},
        "padded": {"kwargs": {"input_ids": tokens(), "attention_mask": padded(), "decoder_input_ids": tokens(4)}},
        "train": {"kwargs": {"input_ids": tokens(), "labels": tokens(5)}, "training": True},
        "step": {"kwargs": {"encoder_outputs": encoded, "decoder_input_ids": tokens(1), "cache": past}},
    }


def whisper(model):
    sound = numbers(1, model.config.num_mel_bins, 100)
    encoded = model.encoder(sound)
    past = model(sound, decoder_input_ids=tokens(3), use_cache=True).cache
    return {
        "whole": {"kwargs": {"input_features": sound, "decoder_input_ids": tokens(3)}},
        "encoded": {"kwargs": {"encoder_outputs": encoded, "decoder_input_ids": tokens(3)}},
        "step": {"kwargs": {"encoder_outputs": encoded, "decoder_input_ids": tokens(1), "cache": past}},
        "train": {"kwargs": {"input_features": sound, "decoder_input_ids": tokens(3)}, "training": True},
    }


def clap_text(_):
    return {
        "plain": {"kwargs": {"input_ids": tokens()}},
        "padded": {"kwargs": {"input_ids": tokens(), "attention_mask": padded()}},
        "embedded": {"kwargs": {"inputs_embeds": numbers(1, 12, 64)}},
    }


def vits(_):
    return {
        "text": {"kwargs": {"input_ids": torch.arange(10, 18)[None]}},
        "padded": {"kwargs": {"input_ids": torch.arange(10, 18)[None], "attention_mask": padded(8, 5)}},
        "short": {"kwargs": {"input_ids": torch.arange(10, 14)[None]}},
    }


def vit(_):
    return {
        "plain": {"args": (numbers(1, 3, 64, 64),)},
        "large": {"args": (numbers(1, 3, 96, 96),), "kwargs": {"interpolate_pos_encoding": True}},
        "masked": {"args": (numbers(1, 3, 64, 64),), "kwargs": {"bool_masked_pos": torch.arange(16)[None] % 2 == 0}},
    }


def llava(model):
    words = tokens(8)
    words[0, 2:6] = model.config.image_token_id
    return {
        "text": {"kwargs": {"input_ids": tokens(8)}},
        "picture": {"kwargs": {"input_ids": words, "pixel_values": numbers(1, 3, 32, 32)}},
    }


_EXPERTS = {"num_experts": 4, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1}
_DECODER = {"is_decoder": True, "add_cross_attention": True}
_SOUND = {"conv_dim": [16] * 7, "num_hidden_layers": 2, "mask_time_length": 2}
_EARS = {"max_source_positions": 50, "num_mel_bins": 8, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
_EYES = {"vision_config": {"image_size": 32, "patch_size": 16}, "image_token_id": 500}

MODELS = [
    Dynamic("Llama", partial(make, "LlamaForCausalLM", "llama"), llama),
    Dynamic("GPT-2", partial(make, "GPT2LMHeadModel", "gpt2"), gpt2),
    Dynamic("Mixtral", partial(make, "MixtralForCausalLM", "mixtral"), mixtral),
    Dynamic("Switch", partial(make, "SwitchTransformersModel", "switch_transformers", **_EXPERTS), switch),
    Dynamic("Longformer", partial(make, "LongformerModel", "longformer", attention_window=4), longformer),
    Dynamic("wav2vec 2", partial(make, "Wav2Vec2Model", "wav2vec2", **_SOUND), wav2vec2),
    Dynamic("BERT", partial(make, "BertForSequenceClassification", "bert"), bert),
    Dynamic("BERT as decoder", partial(make, "BertModel", "bert", **_DECODER), bert_decoder),
    Dynamic("BART", partial(make, "BartForConditionalGeneration", "bart"), bart),
    Dynamic("T5", partial(make, "T5ForConditionalGeneration", "t5", decoder_start_token_id=0), t5),
    Dynamic("Whisper", partial(make, "WhisperModel", "whisper", **_EARS), whisper),
    Dynamic("CLAP's text", partial(make, "ClapTextModel", "clap_text_model"), clap_text),
    Dynamic("VITS", partial(make, "VitsModel", "vits"), vits),
    Dynamic("ViT", masked_vit, vit),
    Dynamic("LLaVA", partial(make, "LlavaForConditionalGeneration", "llava", **_EYES), llava),
]
