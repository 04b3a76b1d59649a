"""Models of torchvision and timm, made small where they are large."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import randn

from named_sizes.known import KnownSize, add, fixed, free, images
from zoo.apart import import_from_zoo


def torchvision(name: str, *args: Any, **more: Any) -> Any:
    """A model or a class of torchvision's models, with random weights."""
    folder, _, short = name.rpartition(".")
    make = getattr(import_from_zoo("torchvision.models" + (f".{folder}" if folder else "")), short)
    options = {} if isinstance(make, type) else {"weights": None}
    return make(*args, **options, **({"weights_backbone": None} if folder == "segmentation" else {}), **more)


def timm(name: str, **more: Any) -> Any:
    """A model of timm with random weights."""
    return import_from_zoo("timm").create_model(name, pretrained=False, num_classes=5, **more)


def any_picture(multiple: int = 1, *, height: int = 64, width: int = 96, least: int = 32) -> dict[str, KnownSize]:
    """Pictures of any size, or of multiples."""
    return {"B": free(2), "H": free(height, multiple, least=least), "W": free(width, multiple, least=least)}


def square(size: int, reason: str) -> dict[str, KnownSize]:
    """Pictures of one size only."""
    return {"B": free(2), "H": fixed(size, reason), "W": fixed(size, reason)}


LARGE = any_picture(height=128, width=160, least=96)
TORCHVISION: dict[str, tuple[partial[Any], dict[str, KnownSize]]] = {
    "densenet": (partial(torchvision, "DenseNet", 8, (2, 2, 2), 16, num_classes=5), any_picture()),
    "googlenet": (partial(torchvision, "googlenet", init_weights=False, aux_logits=False), any_picture()),
    "inception_v3": (partial(torchvision, "inception_v3", init_weights=False, aux_logits=False), LARGE),
    "alexnet": (partial(torchvision, "alexnet"), LARGE),
    "VisionTransformer": (
        partial(torchvision, "VisionTransformer", 32, 8, 2, 2, 16, 32),
        square(32, "asserts its own picture size"),
    ),
    "SwinTransformer": (
        partial(torchvision, "SwinTransformer", [4, 4], 16, [2, 2], [2, 2], [4, 4]),
        any_picture(32, least=64),
    ),
}
ANY = """resnet18 vgg11_bn squeezenet1_1 mobilenet_v2 mobilenet_v3_small shufflenet_v2_x0_5 mnasnet0_5 efficientnet_b0
    regnet_y_400mf convnext_tiny segmentation.fcn_resnet50 segmentation.lraspp_mobilenet_v3_large
    segmentation.deeplabv3_mobilenet_v3_large"""
TORCHVISION |= {name: (partial(torchvision, name), any_picture()) for name in ANY.split()}
for name, (make, sizes) in TORCHVISION.items():
    add(f"torchvision {name.rpartition('.')[2]}", make, images, **sizes)
add(
    "torchvision r2plus1d_18",
    partial(torchvision, "video.r2plus1d_18", num_classes=5),
    lambda B, T, H, W: (randn(B, 3, T, H, W),),
    **{**any_picture(height=32, width=48, least=16), "B": free(1), "T": free(8)},
)

TIMM = """resnet10t mobilenetv3_small_050 efficientnet_lite0 regnetx_002 convnext_atto ghostnet_050 rexnet_100
    res2net50_14w_8s dla46_c hrnet_w18_small hardcorenas_a repvgg_a0 cspresnet50 skresnet18 nf_regnet_b0
    poolformer_s12 fastvit_t8 pvt_v2_b0 starnet_s1 mambaout_femto edgenext_xx_small convmixer_768_32 resnest14d"""
for name in TIMM.split():
    add(f"timm {name}", partial(timm, name), images, **any_picture(32, least=64))
FIXED = {
    "vit_tiny_patch16_224": "learnt positions",
    "deit_tiny_distilled_patch16_224": "learnt positions",
    "mixer_s32_224": "linear layers over patches",
    "cait_xxs24_224": "learnt positions",
    "gmlp_ti16_224": "linear layers over patches",
    "swin_tiny_patch4_window7_224": "its own picture size",
    "levit_128s": "table of relative positions",
}
for name, reason in FIXED.items():
    add(f"timm {name}", partial(timm, name), images, **square(224, reason))
BEIT = partial(timm, "beit_base_patch16_224", embed_dim=48, num_heads=2)
add("timm beit_base_patch16_224", BEIT, images, **square(224, "table of relative positions"))
add("timm mobilevitv2_050", partial(timm, "mobilevitv2_050"), images, **any_picture(64, width=128))
DYNAMIC = partial(timm, "vit_tiny_patch16_224", dynamic_img_size=True, img_size=64, depth=2)
add("timm vit dynamic", DYNAMIC, images, **any_picture(16, height=96, width=128))
