"""Which architectures of `transformers` the zoo holds: model types, grouped; and settings of their own where needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from zoo.small import fitting_inputs, small_model, tokens

_TEXT = """
    albert apertus arcee bert bert-generation big_bird biogpt bitnet bloom camembert canine clip_text_model
    codegen cohere cohere2 convbert cpmant ctrl cwm data2vec-text deberta deberta-v2 diffllama distilbert dpr
    electra embedding_gemma2_text ernie ernie4_5 esmc eurobert evolla exaone4 falcon fastspeech2_conformer fnet
    funnel fuyu gemma gemma2 gemma3_text gemma4_unified_text git glm glm4 gpt-sw3 gpt2 gpt_bigcode gpt_neox
    gpt_neox_japanese gptj granite granite_docling_text granite_swa gte helium higgs_audio_v2 hyperclovax ibert
    imagegpt internlm3 iquestcoder jais2 jina_embeddings_v3 layoutlm llama longformer luke markuplm megatron-bert
    minicpm3 ministral3 mistral mobilebert modernbert modernbert-decoder molmo2_text mpnet mpt mra
    muse_glimmer_text nanochat neomme nomic_bert nystromformer olmo olmo2 olmo3 openai-gpt opt persimmon phi phi3
    qwen2 qwen3 qwen3_vl_text rembert roberta roberta-prelayernorm roc_bert roformer seed_oss smollm3 splinter
    squeezebert stablelm starcoder2 tapas tipsv2_text_model ultrabert vaultgemma visual_bert vits xglm xlm-roberta
    xlm-roberta-xl xlnet yoso youtu
"""
_MIXTURE = """
    afmoe aria_text axk2 beam cohere2_moe deepseek_v3 deepseek_v32 deepseek_v4 doge dots3_note_text exaone_moe
    flex_olmo flint gemma4_text glm4_moe glm4_moe_lite glm_moe_dsa gpt_oss granitemoe granitemoe_swa
    granitemoeshared hy_v3 hy_v4 inkling2_text inkling_text jetmoe kolibri1 laguna llama4_text mellum
    mimo_v2_flash mistral4 mistral_large4_text mixtral muse_spark_text olmoe openai_privacy_filter phimoe
    qwen2_moe qwen3_moe qwen3_vl_moe_text solar_open
"""
_STATE_SPACE = """
    falcon_h1 falcon_mamba lfm2 mamba minimax minimax_m2 minimax_m3_vl_text nemotron_h olmo_hybrid rwkv zaya
"""
_ENCODER_DECODER = """
    bart bigbird_pegasus blenderbot blenderbot-small fsmt led longt5 m2m_100 marian mbart mt5 mvp nllb-moe pegasus
    pegasus_x plbart prophetnet seamless_m4t seamless_m4t_v2 switch_transformers t5 t5gemma t5gemma2 umt5
"""
_VISION = """
    aimv2_vision_model beit bit chinese_clip_vision_model clip_vision_model convnext convnextv2 cvt
    data2vec-vision deit dinov2 dinov2_with_registers dinov3_convnext dinov3_vit donut-swin dpt focalnet glpn
    hgnet_v2 hiera ijepa internvl_vision levit maskformer maskformer-swin mgp-str mlcd mlcd_vision_model
    mobilenet_v1 mobilenet_v2 mobilevit mobilevitv2 pixio pixtral poolformer pp_ocrv6_small_rec pp_ocrv6_tiny_rec
    pvt pvt_v2 qianfan_ocr_vision radio regnet resnet rf_detr sam3_vision_model sam3_vit_model sam_hq_vision_model
    sam_vision_model sapiens2 segformer siglip_vision_model swiftformer swin swin2sr swinv2 textnet
    tipsv2_vision_model vit vit_mae vit_msn vitdet yolos
"""
_AUDIO = """
    data2vec-audio glmasr_encoder hubert moonshine moss_transcribe_diarize_audio qwen2_audio_encoder sew sew-d
    unispeech unispeech-sat univnet voxtral_encoder voxtral_realtime_encoder wav2vec2 wav2vec2-conformer wavlm
    whisper
"""
_MULTIMODAL = """
    aria audioflamingo3 aya_vision cohere2_vision cosmos3_omni deepseek_vl deepseek_vl_hybrid embedding_gemma2
    exaone4_5 fastspeech2_conformer_with_hifigan flava gemma3 gemma4 gemma4_unified glmasr got_ocr2
    granite_docling granite_speech granite_speech_plus grounding-dino hyperclovax_vision_v2 idefics2 idefics3
    inkling2 internvl kimi_k25 kosmos-2.5 lfm2_vl lighton_ocr llava llava_next llava_next_video
    llava_onevision minimax_m3_vl mistral3 mistral_large4 mllama mm-grounding-dino modernvbert moshi
    moss_transcribe_diarize muse_glimmer musicflamingo nemo_speechlm ovis2 paligemma phi4_multimodal qianfan_ocr
    qwen2_audio qwen3_asr qwen3_omni_moe_thinker qwen3_vl qwen3_vl_moe smolvlm tipsv2 ultravbert unlimited_ocr
    video_llama_3 video_llava vipllava voxtral
"""


class Special(NamedTuple):
    """What an architecture needs beyond a small default configuration and its main input."""

    settings: Mapping[str, Any] = {}
    inputs: Callable[[Any], dict[str, torch.Tensor]] | None = None
    """Makes the inputs, given the configuration."""


def _picture(*size: int) -> torch.Tensor:
    return torch.randn(*(size or (1, 3, 64, 64)))


def _text_beside_picture(_config: Any) -> dict[str, torch.Tensor]:
    return {"input_ids": tokens(), "pixel_values": _picture()}


def _picture_in_text(places: int, *size: int) -> Callable[[Any], dict[str, torch.Tensor]]:
    """A text in which so many tokens stand for parts of a picture."""

    def inputs(config: Any) -> dict[str, torch.Tensor]:
        ids = tokens(places + 6)
        ids[0, 2 : 2 + places] = config.image_token_id
        return {"input_ids": ids, "pixel_values": _picture(*size)}

    return inputs


def _only(name: str, *size: int) -> Callable[[Any], dict[str, torch.Tensor]]:
    return lambda _config: {name: torch.randn(*size)}


def _sound_and_text(_config: Any) -> dict[str, torch.Tensor]:
    return {"input_features": torch.randn(1, 40, 80), "decoder_input_ids": tokens(7)}


def _clip_of_sound(_config: Any) -> dict[str, torch.Tensor]:
    return {"input_ids": tokens(), "input_features": torch.randn(1, 1, 1001, 64)}


def _objects(_config: Any) -> dict[str, torch.Tensor]:
    return {"input_ids": tokens(), "visual_feats": torch.randn(1, 4, 2048), "visual_pos": torch.rand(1, 4, 4)}


def _episode(_config: Any) -> dict[str, torch.Tensor]:
    sizes = {"states": 17, "actions": 4, "rewards": 1, "returns_to_go": 1}
    episode = {name: torch.randn(1, 5, size) for name, size in sizes.items()}
    return {**episode, "timesteps": torch.arange(5)[None], "attention_mask": torch.ones(1, 5)}


_SECTIONS = {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 1e4}
_MAMBA_LAYERS = {"mamba_n_heads": 8, "mamba_d_head": 16, "mamba_n_groups": 1}

SPECIAL = {
    **dict.fromkeys(
        ("aimv2", "altclip", "blip", "bridgetower", "chinese_clip", "clip", "clipseg", "metaclip_2", "owlv2", "owlvit"),
        Special(inputs=_text_beside_picture),
    ),
    **dict.fromkeys(("flava", "git", "vilt"), Special(inputs=_text_beside_picture)),
    **dict.fromkeys(("qwen2_vl", "qwen2_5_vl"), Special({"text_config": {"rope_parameters": _SECTIONS}})),
    "audio-spectrogram-transformer": Special(inputs=_only("input_values", 1, 1024, 128)),
    "clap": Special(inputs=_clip_of_sound),
    "dac": Special(inputs=_only("input_values", 1, 1, 2000)),
    "decision_transformer": Special(inputs=_episode),
    "ernie4_5_moe": Special({"moe_k": 2}),
    "esm": Special({"vocab_size": 64, "pad_token_id": 1, "mask_token_id": 32}),
    "gemma3": Special({"mm_tokens_per_image": 4}, _picture_in_text(4)),
    "gpt_neo": Special({"num_layers": 2, "attention_types": [[["global", "local"], 1]]}),
    "granitemoehybrid": Special({**_MAMBA_LAYERS, "layer_types": ["mamba", "attention"]}),
    "hunyuan_v1_dense": Special({"head_dim": 16}),
    "idefics3": Special(inputs=_picture_in_text(1, 1, 1, 3, 64, 64)),
    "internvl": Special(inputs=_picture_in_text(4)),
    "jamba": Special(
        {"num_hidden_layers": 4, "attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False}
    ),
    "lxmert": Special(inputs=_objects),
    "mamba2": Special({"num_heads": 8, "head_dim": 16, "n_groups": 2, "state_size": 16}),
    "paligemma": Special(inputs=_picture_in_text(16)),
    "parakeet_encoder": Special(inputs=_only("input_features", 1, 60, 80)),
    "patchtsmixer": Special(inputs=_only("past_values", 1, 32, 1)),
    "patchtst": Special(inputs=_only("past_values", 1, 32, 1)),
    "qwen3_next": Special({"num_hidden_layers": 4}),
    "recurrent_gemma": Special({"num_hidden_layers": 3, "lru_width": 64}),
    "smolvlm": Special(inputs=_picture_in_text(1, 1, 1, 3, 64, 64)),
    "speech_to_text": Special(inputs=_sound_and_text),
    "timesformer": Special(inputs=_only("pixel_values", 1, 8, 3, 64, 64)),
    "videomae": Special(inputs=_only("pixel_values", 1, 16, 3, 64, 64)),
    "vivit": Special(inputs=_only("pixel_values", 1, 32, 3, 64, 64)),
    "wav2vec2": Special({"conv_dim": [16] * 7, "num_hidden_layers": 6}),  # its layers carry it, as in full size
    "wav2vec2-bert": Special(inputs=_only("input_features", 1, 40, 160)),
    "xmod": Special({"default_language": "en_XX"}),
}

_GENERIC = (_TEXT, _MIXTURE, _STATE_SPACE, _ENCODER_DECODER, _VISION, _AUDIO, _MULTIMODAL)
KINDS = tuple(sorted({*SPECIAL, *(kind for group in _GENERIC for kind in group.split())}))
"""Every model type of the zoo."""

FAILING = {"llama4": "transformers 5.24 reads a field of its outputs that it does not set"}
"""Model types that raise by themselves, so that there is no pass to judge, and why."""


def prepared(kind: str) -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    """A small model with random weights, and inputs that fit, the same every time."""
    special = SPECIAL.get(kind, Special())
    model = small_model(kind, special.settings)
    return model, special.inputs(model.config) if special.inputs else fitting_inputs(model)
