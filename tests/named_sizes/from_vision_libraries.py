"""Models of torchvision and timm, made small where they are large."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import randn

from named_sizes.known import KnownSize, add, fixed, free, images
from zoo.apart import import_from_zoo

POSITIONS = "learnt positions"


def torchvision(name: str, **more: Any) -> Any:
    """A model of torchvision with random weights."""
    folder, _, short = name.rpartition(".")
    models = import_from_zoo("torchvision.models" + (f".{folder}" if folder else ""))
    options = {"weights": None} | ({"weights_backbone": None} if folder in {"segmentation", "detection"} else {})
    return getattr(models, short)(**options, **more)


def timm(name: str, **more: Any) -> Any:
    """A model of timm with random weights."""
    return import_from_zoo("timm").create_model(name, pretrained=False, **more)


def class_of_torchvision(name: str, *args: Any, **more: Any) -> Any:
    """A class of torchvision's models."""
    return getattr(import_from_zoo("torchvision.models"), name)(*args, **more)


def square(size: int, reason: str) -> dict[str, KnownSize]:
    """Pictures of one size only."""
    return {"B": free(2), "H": fixed(size, reason), "W": fixed(size, reason)}


def any_picture(multiple: int = 1, *, height: int = 64, width: int = 96, least: int = 32) -> dict[str, KnownSize]:
    """Pictures of any size, or of multiples."""
    return {
        "B": free(2),
        "H": free(height, multiple, least=least),
        "W": free(width, multiple, least=least),
    }


for name in (
    "resnet18",
    "vgg11_bn",
    "squeezenet1_1",
    "mobilenet_v2",
    "mobilenet_v3_small",
    "shufflenet_v2_x0_5",
    "mnasnet0_5",
    "efficientnet_b0",
    "regnet_y_400mf",
    "convnext_tiny",
    "alexnet",
):
    large = {"height": 128, "width": 160, "least": 96} if name == "alexnet" else {}
    add(f"torchvision {name}", partial(torchvision, name), images, **any_picture(**large))
add(
    "torchvision densenet",
    partial(class_of_torchvision, "DenseNet", 8, (2, 2, 2), 16, num_classes=5),
    images,
    **any_picture(),
)
add(
    "torchvision googlenet",
    partial(torchvision, "googlenet", init_weights=False, aux_logits=False),
    images,
    **any_picture(),
)
add(
    "torchvision inception_v3",
    partial(torchvision, "inception_v3", init_weights=False, aux_logits=False),
    images,
    **any_picture(height=128, width=160, least=75),
)
add(
    "torchvision VisionTransformer",
    partial(class_of_torchvision, "VisionTransformer", 32, 8, 2, 2, 16, 32, num_classes=5),
    images,
    **square(32, "asserts its own picture size"),
)
add(
    "torchvision SwinTransformer",
    partial(class_of_torchvision, "SwinTransformer", [4, 4], 16, [2, 2], [2, 2], [4, 4]),
    images,
    B=free(2),
    H=free(64, 32, least=64),
    W=free(96, 32, least=64),
)
add(
    "torchvision fcn_resnet50",
    partial(torchvision, "segmentation.fcn_resnet50", num_classes=3),
    images,
    **any_picture(),
)
add(
    "torchvision lraspp_mobilenet_v3_large",
    partial(torchvision, "segmentation.lraspp_mobilenet_v3_large", num_classes=3),
    images,
    **any_picture(),
)
add(
    "torchvision deeplabv3_mobilenet_v3_large",
    partial(torchvision, "segmentation.deeplabv3_mobilenet_v3_large", num_classes=3),
    images,
    **any_picture(),
)
add(
    "torchvision r2plus1d_18",
    partial(torchvision, "video.r2plus1d_18", num_classes=5),
    lambda B, T, H, W: (randn(B, 3, T, H, W),),
    B=free(1),
    T=free(8),
    H=free(32, least=16),
    W=free(48, least=16),
)

ANY = """resnet10t mobilenetv3_small_050 efficientnet_lite0 regnetx_002 convnext_atto ghostnet_050 rexnet_100
    res2net50_14w_8s
    dla46_c hrnet_w18_small hardcorenas_a repvgg_a0 cspresnet50 skresnet18 nf_regnet_b0 poolformer_s12
    fastvit_t8
    pvt_v2_b0 starnet_s1 mambaout_femto edgenext_xx_small convmixer_768_32 resnest14d"""
for name in ANY.split():
    add(f"timm {name}", partial(timm, name, num_classes=5), images, **any_picture(32, least=64))
add("timm mobilevitv2_050", partial(timm, "mobilevitv2_050", num_classes=5), images, **any_picture(64, width=128))
SQUARE = {
    "vit_tiny_patch16_224": POSITIONS,
    "deit_tiny_distilled_patch16_224": POSITIONS,
    "beit_base_patch16_224": "table of relative positions",
    "mixer_s32_224": "linear layers over patches",
    "cait_xxs24_224": POSITIONS,
    "gmlp_ti16_224": "linear layers over patches",
    "swin_tiny_patch4_window7_224": "its own picture size",
    "levit_128s": "table of relative positions",
}
for name, reason in SQUARE.items():
    width = {"embed_dim": 48, "num_heads": 2} if name.startswith("beit") else {}
    add(f"timm {name}", partial(timm, name, num_classes=5, **width), images, **square(224, reason))
add(
    "timm vit dynamic",
    partial(timm, "vit_tiny_patch16_224", num_classes=5, dynamic_img_size=True, img_size=64, depth=2),
    images,
    **any_picture(16, height=96, width=128),
)
