"""Pictures of real models in every state, judged by the oracle of `tests/truth`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers
from torch import nn

from gallery_models import MODELS
from modeldiagrams.ir.graph import Graph
from modeldiagrams.tracer import trace
from truth.sweep import Sweep
from zoo import architectures
from zoo.apart import import_from_zoo

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn about themselves

TRANSFORMERS = [
    "albert",
    "bart",
    "bert",
    "blip",
    "bloom",
    "clip",
    "convnext",
    "deepseek_v3",
    "distilbert",
    "dpt",
    "electra",
    "falcon",
    "funnel",
    "gemma2",
    "gemma3",
    "gpt2",
    "gptj",
    "gpt_neox",
    "llama",
    "longformer",
    "mamba",
    "mamba2",
    "mixtral",
    "modernbert",
    "mpt",
    "opt",
    "phi3",
    "qwen2_moe",
    "roformer",
    "rwkv",
    "segformer",
    "swin",
    "t5",
    "timesformer",
    "videomae",
    "vit",
    "wav2vec2",
    "whisper",
    "xlnet",
]
TORCHVISION = [
    "alexnet",
    "convnext_tiny",
    "densenet121",
    "efficientnet_b0",
    "googlenet",
    "inception_v3",
    "maxvit_t",
    "mnasnet0_5",
    "mobilenet_v3_small",
    "regnet_y_400mf",
    "resnet18",
    "resnet50",
    "shufflenet_v2_x0_5",
    "squeezenet1_0",
    "swin_t",
    "vgg11",
    "vit_b_32",
]
TIMM = [
    "beit_base_patch16_224",
    "cait_xxs24_224",
    "coatnet_nano_rw_224",
    "crossvit_tiny_240",
    "dpn68",
    "hrnet_w18_small",
    "nasnetalarge",
    "nfnet_f0",
    "pnasnet5large",
    "pvt_v2_b0",
    "res2net50_14w_8s",
    "resmlp_12_224",
    "selecsls42",
    "tresnet_m",
    "volo_d1_224",
]
SEGMENTATION = ["deeplabv3_resnet50", "fcn_resnet50"]


def from_transformers(kind: str) -> Graph:
    model, inputs = architectures.prepared(kind)
    with torch.no_grad():
        return trace(model, (), inputs)


def from_torchvision(name: str) -> Graph:
    torchvision = import_from_zoo("torchvision")
    size = {"inception_v3": 299, "maxvit_t": 224, "vit_b_32": 224, "swin_t": 224}.get(name, 64)
    weights = {"weights": None, "weights_backbone": None} if name in SEGMENTATION else {}
    return of_image(torchvision.models.get_model(name, **weights), size)


def from_timm(name: str) -> Graph:
    timm = import_from_zoo("timm")
    model = timm.create_model(name, pretrained=False)
    return of_image(model, model.default_cfg["input_size"][-1] if model.default_cfg.get("fixed_input_size") else 128)


def of_image(model: nn.Module, size: int) -> Graph:
    return trace(model.eval(), (torch.zeros(1, 3, size, size),))


def detr() -> Graph:
    """DETR with one block for each stage."""
    backbone = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1], out_features=["stage4"]
    )
    layers: dict[str, Any] = dict.fromkeys(("encoder_layers", "decoder_layers"), 3)
    heads = dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4)
    config = transformers.DetrConfig(
        backbone_config=backbone, use_timm_backbone=False, d_model=32, num_queries=10, **layers, **heads
    )
    return trace(transformers.DetrModel(config).eval(), (), {"pixel_values": torch.zeros(1, 3, 64, 64)})


def of_gallery(name: str) -> Graph:
    make, inputs = MODELS[name]
    return trace(make().eval(), (), inputs)


CASES: list[tuple[Callable[..., Graph], tuple[str, ...]]] = [
    (detr, ()),
    *((of_gallery, (name,)) for name in MODELS),
    *((from_transformers, (name,)) for name in TRANSFORMERS),
    *((from_torchvision, (name,)) for name in (*TORCHVISION, *SEGMENTATION)),
    *((from_timm, (name,)) for name in TIMM),
]


@pytest.mark.parametrize(("make", "arguments"), CASES, ids=[" ".join([make.__name__, *a]) for make, a in CASES])
def test_pictures_are_true(make, arguments):
    graph = make(*arguments)
    assert graph.status.state == "complete"
    assert Sweep(graph).untrue() == []


def test_enough_models():
    assert len(CASES) >= 60 + len(MODELS)
