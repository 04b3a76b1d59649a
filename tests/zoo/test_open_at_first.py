"""What is open at first in pictures of known architectures: an exemplar of the blocks that they are known for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import transformers

from modeldiagrams import trace
from modeldiagrams.ir.graph import Graph
from modeldiagrams.options.options import View
from modeldiagrams.render.draw import render
from pictures.opened import opened
from truth.drawn import read
from zoo import architectures
from zoo.small import small_model
from zoo.test_true_pictures import detr, from_timm, from_torchvision, from_transformers

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn about themselves

TORCHVISION = {
    "convnext_tiny": "CNBlock",
    "deeplabv3_resnet50": "Bottleneck",
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
    "qwen2_vl": "Qwen2VLDecoderLayer",
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

PAGE, WIDEST = 740, 822
"""Width of a column, and of a picture whose labels of 10 px then have 9."""
TALLEST = 1700
"""Height of a picture in a column, a quarter of which is only for models with stages."""


@pytest.mark.parametrize(("make", "name", "block"), CASES, ids=[f"{make.__name__} {name}" for make, name, _ in CASES])
def test_the_block_an_architecture_is_known_for_is_open(make: Callable[[str], Graph], name: str, block: str) -> None:
    picture = render(make(name), View())
    assert block in opened(picture.svg)
    assert picture.width <= WIDEST
    assert picture.height * min(1, PAGE / picture.width) <= TALLEST


def test_a_decoder_that_is_called_with_few_tokens_is_open_beside_its_encoder() -> None:
    picture = render(from_transformers("whisper"), View())
    assert {"WhisperEncoderLayer", "WhisperDecoderLayer"} <= set(opened(picture.svg))
    assert picture.width <= WIDEST


def test_no_bundle_hides_an_encoder_or_a_few_nodes() -> None:
    picture = render(detr(), View())
    assert {"DetrEncoderLayer", "DetrDecoderLayer"} & set(opened(picture.svg))
    assert not {"encoder", "decoder"} & {member for members in picture.bundled.values() for member in members}
    assert all(len(members) > 3 for members in picture.bundled.values())


def test_each_tower_shows_a_block() -> None:
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 12}
    text, vision = {**sizes, "vocab_size": 1000}, {**sizes, "image_size": 64}
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=32)
    inputs = {"input_ids": torch.zeros(1, 16, dtype=torch.int64), "pixel_values": torch.zeros(1, 3, 64, 64)}
    picture = render(trace(transformers.CLIPModel(config).eval(), (), inputs), View())
    assert opened(picture.svg).count("CLIPEncoderLayer") == 2


def test_the_mixer_of_a_state_space_model_is_open() -> None:
    _, inputs = architectures.prepared("mamba")
    graph = trace(small_model("mamba", {"use_cache": False}), (), inputs)
    assert "MambaMixer" in opened(render(graph, View()).svg)


def test_a_block_with_a_residual_is_open() -> None:
    picture = render(from_torchvision("mobilenet_v3_small"), View())
    assert "mg-glyph" in picture.svg


def transformer() -> Graph:
    """The Transformer of 2017, as PyTorch has it."""
    model = torch.nn.Transformer(64, 4, 2, 2, 128, batch_first=True).eval()
    return trace(model, (torch.zeros(1, 9, 64), torch.zeros(1, 9, 64)))


def with_stacks(name: str) -> Graph:
    """An architecture with so many layers that they are stacks."""
    if name in ("clip", "transformer"):
        return transformer() if name == "transformer" else from_transformers(name)
    sizes = ("num_layers", "num_decoder_layers", "encoder_layers", "decoder_layers")
    _, inputs = architectures.prepared(name)
    return trace(small_model(name, {"use_cache": False, **dict.fromkeys(sizes, 6)}), (), inputs)


TOWERS = {
    "bart": ("encoder", "decoder"),
    "clip": ("text_model", "vision_model"),
    "t5": ("encoder", "decoder"),
    "transformer": ("encoder", "decoder"),
    "whisper": ("encoder", "decoder"),
}


@pytest.mark.parametrize("name", TOWERS)
def test_towers_stand_beside_each_other_with_tops_in_line(name: str) -> None:
    graph = with_stacks(name)
    picture = render(graph, View())
    boxes = read(picture.svg).boxes
    one, other = sorted((boxes[tower] for tower in TOWERS[name]), key=lambda box: box.x)
    assert one.x + one.width < other.x
    assert one.is_open
    assert other.is_open
    assert one.y == other.y
    assert picture.width <= WIDEST


def test_enough_architectures() -> None:
    assert len(CASES) >= 40
