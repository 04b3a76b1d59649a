"""Four models of torchvision 0.29.1 and five of timm 1.0.31, small. Other releases have other code, so other tables."""

from __future__ import annotations

import torch

from ways_by_hand.reading import readings
from zoo.apart import import_from_zoo

RELEASES = {"torchvision": "0.29.1", "timm": "1.0.31"}


def picture(size=32, batch=1):
    torch.manual_seed(0)
    return torch.randn(batch, 3, size, size)


def tv():
    return import_from_zoo("torchvision").models


def timm():
    return import_from_zoo("timm").models


def vision_transformer(name="VisionTransformer", **more):
    sizes = {"img_size": 32, "patch_size": 8, "embed_dim": 16, "depth": 2, "num_heads": 2, "num_classes": 5}
    return getattr(timm(), name)(**sizes, **more), (picture(),), {}


def swin_of_torchvision():
    model = tv().SwinTransformer([4, 4], 16, [2, 2], [2, 2], [4, 4])
    return model, (picture(batch=2),), {}


def swin_of_timm():
    sizes = {"img_size": 32, "patch_size": 4, "window_size": 4, "embed_dim": 16, "depths": (2, 2), "num_heads": (2, 2)}
    return timm().SwinTransformer(**sizes, num_classes=5), (picture(),), {}


SIDES = """
*patches
    PatchEmbed.forward  self.dynamic_img_pad  yes  configuration
*transformer
    PatchEmbed.forward  self.flatten  no  configuration
    LayerNorm.forward  self._fast_norm  yes  configuration
    Attention.forward  self.gate is not None  yes  configuration
    Attention.forward  self.fused_attn  no  configuration
    Attention.forward  gate is not None  yes  configuration
    VisionTransformer.forward_features  attn_mask is not None or is_causal  yes  input
    VisionTransformer.forward_features  self.grad_checkpointing and (not torch.jit.is_scripting())  yes  configuration
*dropped paths
    drop_path  drop_prob == 0.0 or not training  no  mode
torchvision GoogLeNet
    GoogLeNet._transform_input  self.transform_input  yes  configuration
    GoogLeNet._forward  self.training  yes  mode
    GoogLeNet._forward  self.training  yes  mode
torchvision DenseNet
    _DenseLayer.forward  self.memory_efficient and self.any_requires_grad(prev_features)  yes  configuration
    _DenseLayer.forward  self.drop_rate > 0  yes  configuration
torchvision SwinTransformer in training
    shifted_window_attention  logit_scale is not None and qkv_bias is not None  yes  input|configuration
    shifted_window_attention  logit_scale is not None  yes  input|configuration
torchvision shufflenet_v2
timm VisionTransformer
    *patches
    *transformer
    *dropped paths
    global_pool_nlc  pool_type == 'token'  no  configuration|input
    VisionTransformer._pos_embed  self.reg_token is not None  yes  configuration
    VisionTransformer._pos_embed  self.pos_embed is None  yes  configuration
    VisionTransformer._pos_embed  self.dynamic_img_size  yes  configuration
    VisionTransformer._pos_embed  self.no_embed_class  yes  configuration
    VisionTransformer.pool  self.attn_pool is not None  yes  configuration
timm VisionTransformerDistilled
    *patches
    *transformer
    VisionTransformerDistilled._pos_embed  self.dynamic_img_size  yes  configuration
    VisionTransformerDistilled._pos_embed  self.no_embed_class  yes  configuration
    VisionTransformerDistilled.forward_head  pre_logits  yes  input
timm LevitDistilled
    Downsample.forward  self.pool is not None  yes  configuration
    Attention.get_attention_biases  torch.jit.is_tracing() or self.training  yes  mode|other
    Attention.forward  self.use_conv  yes  configuration
    AttentionDownsample.get_attention_biases  torch.jit.is_tracing() or self.training  yes  mode|other
    AttentionDownsample.forward  self.use_conv  yes  configuration
    Levit.forward_features  self.grad_checkpointing and (not torch.jit.is_scripting())  yes  configuration
    LevitDistilled.forward_head  self.use_conv  yes  configuration
timm SwinTransformer
    *patches
    *dropped paths
    PatchEmbed.forward  self.flatten  yes  configuration
    nchw_to  fmt == Format.NHWC  no  configuration|input
    ClassifierHead.forward  pre_logits  yes  input
    WindowAttention.forward  self.fused_attn  yes  configuration
    SwinTransformerBlock._attn  getattr(self, 'dynamic_mask', False)  yes  configuration
    SwinTransformerStage.forward  self.grad_checkpointing and (not torch.jit.is_scripting())  yes  configuration
    SwinTransformer.forward_head  pre_logits  yes  input
timm MobileNetV3
    Linear.forward  torch.jit.is_scripting()  yes  other
    BatchNormAct2d.forward  self.training and self.track_running_stats  yes  mode
    ConvBnAct.forward  self.has_skip  yes  configuration
    DepthwiseSeparableConv.forward  self.conv_s2d is not None  yes  configuration
    DepthwiseSeparableConv.forward  self.has_skip  yes  configuration
    InvertedResidual.forward  self.conv_s2d is not None  yes  configuration
    MobileNetV3.forward_features  self.grad_checkpointing and (not torch.jit.is_scripting())  yes  configuration
    MobileNetV3.forward_head  self.drop_rate > 0.0  yes  configuration
"""
MADE = {
    "torchvision GoogLeNet": lambda: (tv().GoogLeNet(num_classes=5, init_weights=False), (picture(64),), {}),
    "torchvision DenseNet": lambda: (tv().DenseNet(8, (1, 2), 8), (picture(),), {}),
    "torchvision SwinTransformer in training": swin_of_torchvision,
    "torchvision shufflenet_v2": lambda: (tv().shufflenet_v2_x0_5(), (picture(),), {}),
    "timm VisionTransformer": lambda: vision_transformer(drop_path_rate=0.1),
    "timm VisionTransformerDistilled": lambda: vision_transformer("VisionTransformerDistilled"),
    "timm LevitDistilled": lambda: (timm().levit_128s(num_classes=5), (picture(224),), {}),
    "timm SwinTransformer": swin_of_timm,
    "timm MobileNetV3": lambda: (timm().mobilenetv3_small_050(num_classes=5), (picture(),), {}),
}
READINGS = readings(SIDES, MADE)
