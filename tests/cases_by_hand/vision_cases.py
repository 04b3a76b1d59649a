"""Models of torchvision and timm in training and evaluation, and with more than one way in."""

from __future__ import annotations

import torch

from cases_by_hand.dynamic import Dynamic, numbers
from zoo.apart import import_from_zoo


def tv():
    return import_from_zoo("torchvision").models


def timm():
    return import_from_zoo("timm").models


def both_modes(*size):
    def cases(_):
        return {"train": {"args": (numbers(*size),), "training": True}, "eval": {"args": (numbers(*size),)}}

    return cases


def vision_transformer(name, **more):
    sizes = {"img_size": 32, "patch_size": 8, "embed_dim": 16, "depth": 3, "num_heads": 2, "num_classes": 5}
    return getattr(timm(), name)(**sizes, **more)


def distilled():
    model = vision_transformer("VisionTransformerDistilled")
    model.set_distilled_training(True)
    return model


def mask_rcnn():
    detection = tv().detection
    sizes = {"min_size": 64, "max_size": 64, "box_detections_per_img": 2, "rpn_post_nms_top_n_test": 8}
    return detection.maskrcnn_resnet50_fpn(
        weights=None, weights_backbone=None, num_classes=3, rpn_post_nms_top_n_train=8, **sizes
    )


def detection(_):
    boxes = torch.tensor([[8.0, 8.0, 40.0, 40.0]])
    masks = torch.zeros(1, 64, 64, dtype=torch.uint8)
    masks[:, 8:40, 8:40] = 1
    goal = {"boxes": boxes, "labels": torch.tensor([1]), "masks": masks}
    return {
        "eval": {"args": ([torch.rand(3, 64, 64)],)},
        "train": {"args": ([torch.rand(3, 64, 64)], [goal]), "training": True},
    }


def parts(_):
    picture = numbers(1, 3, 32, 32)
    return {
        "whole": {"args": (picture,)},
        "train": {"args": (picture,), "training": True},
        "features": {"args": (picture,), "method": "forward_features"},
        "each": {"args": (picture,), "kwargs": {"indices": 2}, "method": "forward_intermediates"},
    }


MODELS = [
    Dynamic("torchvision GoogLeNet", lambda: tv().GoogLeNet(5, init_weights=False), both_modes(2, 3, 64, 64)),
    Dynamic("torchvision Mask R-CNN", mask_rcnn, detection),
    Dynamic(
        "torchvision FCN",
        lambda: tv().segmentation.fcn_resnet50(weights=None, weights_backbone=None, num_classes=2, aux_loss=True),
        both_modes(2, 3, 32, 32),
    ),
    Dynamic("torchvision EfficientNet", lambda: tv().efficientnet_b0(num_classes=5), both_modes(2, 3, 32, 32)),
    Dynamic(
        "torchvision Swin", lambda: tv().SwinTransformer([4, 4], 16, [2, 2], [2, 2], [4, 4]), both_modes(2, 3, 32, 32)
    ),
    Dynamic("timm ViT", lambda: vision_transformer("VisionTransformer", drop_path_rate=0.3, drop_rate=0.1), parts),
    Dynamic("timm DeiT", distilled, both_modes(1, 3, 32, 32)),
    Dynamic(
        "timm ConvNeXt",
        lambda: timm().ConvNeXt(num_classes=5, depths=(1, 2, 1, 1), dims=(8, 8, 16, 16), drop_path_rate=0.2),
        both_modes(2, 3, 64, 64),
    ),
    Dynamic("timm LeViT", lambda: timm().levit_128s(num_classes=5), both_modes(2, 3, 224, 224)),
]
