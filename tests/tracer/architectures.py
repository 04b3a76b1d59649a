"""Small models of many architectures from `transformers`, with random weights and inputs that fit."""

from __future__ import annotations

import torch
import transformers

_TEXT = """
    Albert Bert BigBird Bloom CodeGen Cohere ConvBert Deberta DebertaV2 DistilBert Electra Ernie Ernie4_5 Esm
    Exaone4 FNet Falcon FalconMamba GPT2 GPTBigCode GPTJ GPTNeoX Gemma Gemma2 Gemma3Text Glm Glm4 GptOss
    Granite GraniteMoe Helium JetMoe Lfm2 Llama MPNet Mamba Mamba2 MegatronBert Mistral Mixtral MobileBert Mpt
    Nemotron OPT Olmo Olmo2 Olmoe OpenAIGPT Persimmon Phi Phi3 Phimoe Qwen2 Qwen2Moe Qwen3 Qwen3Moe RemBert
    RoFormer Roberta Rwkv SmolLM3 SqueezeBert StableLm Starcoder2 XGLM XLM XLMRoberta XLNet
"""
_ENCODER_DECODER = """
    Bart Blenderbot BlenderbotSmall LongT5 M2M100 MBart MT5 Marian Pegasus SwitchTransformers T5 UMT5
"""
_VISION = """
    Beit Bit Cvt DPT DeiT Dinov2 DonutSwin FocalNet GLPN Hiera IJepa Levit MobileNetV1 MobileNetV2 MobileViT
    Pvt PvtV2 RegNet ResNet Segformer Swin Swinv2 ViT ViTMSN
"""
_AUDIO = """
    AST Hubert SEW Speech2Text UniSpeech WavLM Wav2Vec2 Whisper
"""

TEXT = tuple(_TEXT.split())
ENCODER_DECODER = tuple(_ENCODER_DECODER.split())
VISION = tuple(_VISION.split())
AUDIO = tuple(_AUDIO.split())

_LAYERS = dict.fromkeys(("num_hidden_layers", "num_layers", "n_layer", "n_layers", "num_decoder_layers"), 2)
_LAYERS |= {"encoder_layers": 2, "decoder_layers": 2, "vocab_size": 99}
_SMALL = {
    **_LAYERS,
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embedding_size"), 32),
    **dict.fromkeys(("num_attention_heads", "num_heads", "n_head", "n_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("intermediate_size", "d_ff", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "hidden_dim"), 64),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    "num_key_value_heads": 2,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "head_dim": 8,
    "d_kv": 8,
    "image_size": 32,
    "patch_size": 8,
    "num_mel_bins": 16,
    "rotary_dim": 4,
    "pad_token_id": 0,
    "max_position_embeddings": 64,
    "max_source_positions": 32,
    "max_target_positions": 32,
    "conv_dim": (16, 16),
    "conv_stride": (2, 2),
    "conv_kernel": (3, 3),
    "num_feat_extract_layers": 2,
}


def small(name: str) -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    """A model of an architecture and inputs by name."""
    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    try:
        config = _config(name, _SMALL)
        model = transformers.AutoModel.from_config(config)
    except Exception:  # noqa: BLE001 - some architectures want sizes of their own
        config = _config(name, _LAYERS)
        model = transformers.AutoModel.from_config(config)
    return model.eval(), _inputs(name, config)


def _config(name, values):
    class_ = getattr(transformers, f"{name}Config")
    known = {*class_().to_dict(), *class_.attribute_map}
    return class_(**{key: value for key, value in values.items() if key in known})


def _inputs(name, config):
    tokens = torch.randint(1, 90, (1, 16))
    if name in VISION:
        size = getattr(config, "image_size", 32)
        height = size if isinstance(size, int) else size[0]
        return {"pixel_values": torch.randn(1, 3, height, height)}
    if name in AUDIO:
        return _sound(name, config, tokens[:, :8])
    if name in ENCODER_DECODER:
        return {"input_ids": tokens, "decoder_input_ids": tokens[:, :8]}
    return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}


def _sound(name, config, tokens):
    if name == "Whisper":
        return {"input_features": torch.randn(1, 16, 64), "decoder_input_ids": tokens}
    if name == "Speech2Text":
        return {"input_features": torch.randn(1, 32, 80), "decoder_input_ids": tokens}
    if name == "AST":
        return {"input_values": torch.randn(1, config.max_length, config.num_mel_bins)}
    return {"input_values": torch.randn(1, 2000)}
