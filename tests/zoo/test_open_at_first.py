"""What is open at first in pictures of known architectures: an exemplar of the blocks that they are known for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from modeldiagrams.ir.graph import Graph
from modeldiagrams.options.options import View
from modeldiagrams.render.draw import render
from pictures.opened import opened
from zoo.test_true_pictures import from_timm, from_torchvision, from_transformers

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn about themselves

TORCHVISION = {
    "convnext_tiny": "CNBlock",
    "densenet121": "DenseBlock",
    "efficientnet_b0": "MBConv",
    "googlenet": "Inception",
    "inception_v3": "InceptionC",
    "maxvit_t": "MaxVitLayer",
    "mnasnet0_5": "InvertedResidual",
    "mobilenet_v2": "InvertedResidual",
    "mobilenet_v3_small": "InvertedResidual",
    "regnet_y_400mf": "ResBottleneckBlock",
    "resnet18": "BasicBlock",
    "resnet50": "Bottleneck",
    "shufflenet_v2_x0_5": "InvertedResidual",
    "squeezenet1_0": "Fire",
    "swin_t": "SwinTransformerBlock",
    "vit_b_32": "EncoderBlock",
}
TIMM = {
    "beit_base_patch16_224": "Block",
    "cait_xxs24_224": "LayerScaleBlock",
    "coatnet_nano_rw_224": "TransformerBlock2d",
    "dpn68": "DualPathBlock",
    "hrnet_w18_small": "HighResolutionModule",
    "pvt_v2_b0": "Block",
    "resmlp_12_224": "ResBlock",
    "selecsls42": "SelecSlsBlock",
    "tresnet_m": "Bottleneck",
    "volo_d1_224": "Transformer",
}
TRANSFORMERS = {
    "bart": "BartEncoderLayer",
    "bert": "BertLayer",
    "clip": "CLIPEncoderLayer",
    "convnext": "ConvNextLayer",
    "deepseek_v3": "DeepseekV3DecoderLayer",
    "electra": "ElectraLayer",
    "gpt2": "GPT2Block",
    "gptj": "GPTJBlock",
    "llama": "LlamaDecoderLayer",
    "mamba": "MambaBlock",
    "mixtral": "MixtralDecoderLayer",
    "opt": "OPTDecoderLayer",
    "segformer": "SegformerLayer",
    "swin": "SwinLayer",
    "t5": "T5Block",
    "vit": "ViTLayer",
    "wav2vec2": "Wav2Vec2EncoderLayer",
    "whisper": "WhisperEncoderLayer",
}
CASES = [
    (make, name, block)
    for make, table in (
        (from_torchvision, TORCHVISION),
        (from_timm, TIMM),
        (from_transformers, TRANSFORMERS),
    )
    for name, block in table.items()
]


@pytest.mark.parametrize(("make", "name", "block"), CASES, ids=[f"{make.__name__} {name}" for make, name, _ in CASES])
def test_the_block_an_architecture_is_known_for_is_open(make: Callable[[str], Graph], name: str, block: str) -> None:
    picture = render(make(name), View())
    assert block in opened(picture.svg)
    assert picture.width <= 822  # in a column of 740 px, labels of 10 px then have 9
    assert picture.height <= 1400


def test_enough_architectures() -> None:
    assert len(CASES) >= 40
