"""Eleven classes of transformers 5.24.0, with small settings. Another release has other code, so other tables."""

from __future__ import annotations

import torch
import transformers as hf

from ways_by_hand.reading import readings

RELEASE = "5.24.0"

SIZES = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
TEXT = {**SIZES, "vocab_size": 99}
PICTURE = {"image_size": 32, "patch_size": 8}


def tokens():
    return torch.arange(10, 18)[None]


def picture():
    torch.manual_seed(0)
    return torch.randn(1, 3, 32, 32)


def bert():
    return hf.BertModel(hf.BertConfig(**TEXT)), (), {"input_ids": tokens()}


def gpt2():
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 32, "vocab_size": 99}
    config = hf.GPT2Config(**sizes, bos_token_id=1, eos_token_id=2)
    return hf.GPT2LMHeadModel(config), (), {"input_ids": tokens()}


def llama():
    config = hf.LlamaConfig(**TEXT, num_key_value_heads=2)
    return hf.LlamaForCausalLM(config), (), {"input_ids": tokens()}


def mixtral():
    config = hf.MixtralConfig(**TEXT, num_key_value_heads=2, num_local_experts=4)
    return hf.MixtralForCausalLM(config), (), {"input_ids": tokens()}


def distilbert():
    config = hf.DistilBertConfig(dim=32, hidden_dim=64, n_layers=2, n_heads=4, vocab_size=99)
    model = hf.DistilBertForSequenceClassification(config)
    return model, (), {"input_ids": tokens(), "attention_mask": torch.ones_like(tokens())}


def vit():
    return hf.ViTForImageClassification(hf.ViTConfig(**SIZES, **PICTURE)), (), {"pixel_values": picture()}


def resnet():
    config = hf.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic")
    return hf.ResNetForImageClassification(config), (), {"pixel_values": picture()}


def convnext():
    config = hf.ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2, drop_path_rate=0.1)
    return hf.ConvNextForImageClassification(config), (), {"pixel_values": picture()}


def fnet():
    sizes = {name: size for name, size in TEXT.items() if name != "num_attention_heads"}
    return hf.FNetModel(hf.FNetConfig(**sizes)), (), {"input_ids": tokens()}


def poolformer():
    stages = {"patch_sizes": [7, 3], "strides": [4, 2], "padding": [2, 1], "num_encoder_blocks": 2}
    task = {"num_labels": 3, "problem_type": "single_label_classification"}
    config = hf.PoolFormerConfig(depths=[1, 1], hidden_sizes=[8, 16], **stages, **task)
    model = hf.PoolFormerForImageClassification(config)
    return model, (), {"pixel_values": picture(), "labels": torch.tensor([1])}


def segformer():
    stages = {"patch_sizes": [7, 3], "strides": [4, 2], "sr_ratios": [2, 1], "mlp_ratios": [2, 2]}
    sizes = {"hidden_sizes": [8, 16], "depths": [1, 1], "num_attention_heads": [1, 2], "decoder_hidden_size": 16}
    config = hf.SegformerConfig(num_encoder_blocks=2, **sizes, **stages)
    return hf.SegformerForSemanticSegmentation(config), (), {"pixel_values": picture()}


SIDES = """
*a wrapped model
    merge_with_config_defaults.<locals>.wrapper  kwargs.get('debug_io', False)  yes  input
*wrapped layers
    *a wrapped model
    *wrapped layers of an unwrapped model
*wrapped layers of an unwrapped model
    GradientCheckpointingLayer.__init_subclass__.<locals>.forward_with_checkpointing  self.gr…  yes  configuration|mode
*attention
    sdpa_attention_forward  torch.jit.is_tracing() and isinstance(is_causal, torch.Tensor)  yes  other|input
    sdpa_attention_forward  _is_torch_npu_available  yes  other
    sdpa_attention_forward  position_bias is not None  yes  input
*a head for each query
    sdpa_attention_forward  hasattr(module, 'num_key_value_groups') and…  yes  configuration
*a head for several queries
    sdpa_attention_forward  use_gqa_in_sdpa(attention_mask, key, value)  no  input|size|other
*attention both ways
    *wrapped layers
    *attention
    *a head for each query
    sdpa_attention_forward  is_causal and attention_mask is None and (q_length > 1)…  yes  configuration|size
*mask both ways
    *attention both ways
    _preprocess_mask_arguments  position_ids is not None and attention_mask is None and (cache is None)  yes  input
    _ignore_bidirectional_mask_sdpa  _is_torch_xpu_available  yes  other
    sdpa_mask  allow_is_bidirectional_skip and _ignore_bidirectional_mask_sdpa(…  no  input|size|value|other
    _preprocess_mask_arguments  cache is not None  yes  input
*no mask given
    prepare_padding_mask  attention_mask is not None  yes  input
    _preprocess_mask_arguments  attention_mask is not None and attention_mask.ndim == 2  yes  input
*decoder
    *wrapped layers
    *attention
    *no mask given
    sdpa_attention_forward  is_causal and attention_mask is None and (q_length > 1)…  yes  size
    _preprocess_mask_arguments  position_ids is not None and attention_mask is None and (cache is None)  yes  input
    _ignore_causal_mask_sdpa  padding_mask is not None and padding_mask.shape[-1] > kv_length  yes  input
    _ignore_causal_mask_sdpa  (q_length == 1 or kv_length == q_length) and (padding_mask is None…  no  input|size|value
    sdpa_mask  allow_is_causal_skip and _ignore_causal_mask_sdpa(…  no  input|size|value|other
    _preprocess_mask_arguments  isinstance(q_offset, torch.Tensor)  yes  input|other
    create_causal_mask  not getattr(config, 'is_causal', True)  yes  configuration
    create_causal_mask  packed_sequence_mask is not None  yes  input|other
    create_causal_mask  block_sequence_ids is not None  yes  input
    Cache.update  self.offloading  yes  configuration
    Cache.update  self.offloading  yes  configuration
    DynamicCache.__init__  ddp_cache_data is not None  yes  input
    slice_logits_to_keep  isinstance(logits_to_keep, torch.Tensor) and logits_to_keep.ndim == 2  yes  input
*rotary positions
    dynamic_rope_update.<locals>.wrapper  'dynamic' in rope_type  yes  configuration
    dynamic_rope_update.<locals>.wrapper  rope_type == 'longrope'  yes  configuration
BertModel
    *mask both ways
    *no mask given
    BertEmbeddings.forward  hasattr(self, 'token_type_ids')  no  configuration
    BertSelfAttention.forward  cache is not None  yes  input
    BertLayer.forward  self.is_decoder and encoder_hidden_states is not None  yes  configuration|input
    BertModel._create_attention_masks  self.config.is_decoder  yes  configuration
    BertModel._create_attention_masks  encoder_attention_mask is not None  yes  input
    apply_chunking_to_forward  chunk_size > 0  yes  configuration
GPT2LMHeadModel
    *decoder
    *a head for each query
    GPT2Attention.forward  is_cross_attention  yes  input
    GPT2Attention.forward  using_eager and self.reorder_and_upcast_attn  yes  configuration
    GPT2Block.forward  encoder_hidden_states is not None  yes  input
    GPT2Model.forward  token_type_ids is not None  yes  input
    GPT2Model.forward  token_type_ids is not None  yes  input
    GPT2Model.forward  attention_mask is not None and attention_mask.ndim < 4  yes  input
    GPT2Model.forward  encoder_hidden_states is not None  yes  input
    ?PreTrainedModel.warn_if_padding_and_no_attention_mask  attention_mask is not None or…  no  input|configuration
    GPT2LMHeadModel.forward  labels is not None  yes  input
LlamaForCausalLM
    *decoder
    *a head for several queries
    *rotary positions
    LlamaForCausalLM.forward  labels is not None  yes  input
MixtralForCausalLM
    *decoder
    *a head for several queries
    *rotary positions
    MixtralSparseMoeBlock.forward  self.training and self.jitter_noise > 0  yes  mode|configuration
    MixtralForCausalLM.forward  labels is not None  yes  input
    MixtralForCausalLM.forward  output_router_logits  yes  input|configuration
    _grouped_mm  hasattr(torch.nn.functional, 'grouped_mm')  no  other
    ?_grouped_mm  _can_use_grouped_mm(input, weight, offs)  no  other
    _grouped_linear  is_transposed  yes  configuration
    _grouped_linear  bias is not None  yes  configuration|input
    grouped_mm_experts_forward  device.type in ('cpu', 'mps')  no  input|other
    grouped_mm_experts_forward  self._is_expert_parallel  yes  configuration
    grouped_mm_experts_forward  self.has_gate  no  configuration
    grouped_mm_experts_forward  self.has_bias  yes  configuration
    grouped_mm_experts_forward  sentinel_mask is not None  yes  configuration
    grouped_mm_experts_forward  sentinel_mask is not None  yes  configuration
    grouped_mm_experts_forward  self.has_gate  no  configuration
    grouped_mm_experts_forward  self.has_bias  yes  configuration
    grouped_mm_experts_forward  sentinel_mask is not None  yes  configuration
    grouped_mm_experts_forward  self.has_post_expert_norm  yes  configuration
DistilBertForSequenceClassification
    *mask both ways
    prepare_padding_mask  (padding_length := (kv_length + kv_offset - attention_mask.shape[-1])) > 0  yes  size
    Embeddings.forward  hasattr(self, 'position_ids')  no  configuration
    DistilBertForSequenceClassification.forward  labels is not None  yes  input
    apply_chunking_to_forward  chunk_size > 0  yes  configuration
ViTForImageClassification
    *mask both ways
    *no mask given
    ViTEmbeddings.forward  bool_masked_pos is not None  yes  input
    ViTEmbeddings.forward  interpolate_pos_encoding  yes  input
    ViTModel.forward  pixel_values.dtype != expected_dtype  yes  input|other
    ViTModel.forward  self.pooler is not None  yes  configuration
    ViTForImageClassification.forward  labels is not None  yes  input
ResNetForImageClassification
    ResNetForImageClassification.forward  labels is not None  yes  input
ConvNextForImageClassification
    ConvNextDropPath.forward  self.drop_prob == 0.0 or not self.training  no  mode
    ConvNextForImageClassification.forward  labels is not None  yes  input
    *a wrapped model
FNetModel
    *wrapped layers of an unwrapped model
    FNetEmbeddings.forward  token_type_ids is None  yes  input
    FNetModel.forward  hasattr(self.embeddings, 'token_type_ids')  no  configuration
    apply_chunking_to_forward  chunk_size > 0  yes  configuration
PoolFormerForImageClassification in training
    PoolFormerDropPath.forward  self.drop_prob == 0.0 or not self.training  no  configuration
    PoolFormerLayer.forward  self.use_layer_scale  no  configuration
    fixed_cross_entropy  reduction == 'sum'  yes  input
    ForSequenceClassificationLoss  config.problem_type == 'regression'  yes  configuration
    ForSequenceClassificationLoss  config.problem_type == 'single_label_classification'  no  configuration
SegformerForSemanticSegmentation
    *attention both ways
    SegformerDropPath.forward  self.drop_prob == 0.0 or not self.training  no  mode
    SegformerDecodeHead.forward  self.config.reshape_last_stage is False and…  yes  configuration|size
    SegformerForSemanticSegmentation.forward  labels is not None  yes  input
"""
MADE = {
    "BertModel": bert,
    "GPT2LMHeadModel": gpt2,
    "LlamaForCausalLM": llama,
    "MixtralForCausalLM": mixtral,
    "DistilBertForSequenceClassification": distilbert,
    "ViTForImageClassification": vit,
    "ResNetForImageClassification": resnet,
    "ConvNextForImageClassification": convnext,
    "FNetModel": fnet,
    "PoolFormerForImageClassification in training": poolformer,
    "SegformerForSemanticSegmentation": segformer,
}
READINGS = readings(SIDES, MADE)
