"""Reports of real pairs: what an expert would say of them, in at most five lines."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers

import modeldiagrams
from modeldiagrams.ir.graph import Graph
from modeldiagrams.tracer import trace
from zoo.apart import import_from_zoo
from zoo.test_true_pictures import from_torchvision, of_image

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn about themselves

TOKENS = torch.arange(10, 22)[None]
SMALL: dict[str, Any] = {
    "vocab_size": 512,
    "num_hidden_layers": 3,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 4,
}
LIMIT = 5


def text_model(kind: str, **settings: Any) -> Graph:
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**settings)
    name = f"{kind}ForConditionalGeneration" if config.is_encoder_decoder else f"{kind}ForCausalLM"
    inputs = {"input_ids": TOKENS}
    if config.is_encoder_decoder:
        inputs["decoder_input_ids"] = TOKENS[:, :7]
    return trace(getattr(transformers, name)(config).eval(), (), inputs)


def t5(kind: str, **more: int) -> Graph:
    return text_model(kind, **{"d_model": 64, "d_kv": 16, "num_heads": 4, "num_layers": 3, **more})


def timm_resnet() -> Graph:
    return of_image(import_from_zoo("timm").create_model("resnet50"), 64)


SIDES = {
    "resnet50": lambda: from_torchvision("resnet50"),
    "resnet101": lambda: from_torchvision("resnet101"),
    "resnext50": lambda: from_torchvision("resnext50_32x4d"),
    "wide_resnet50": lambda: from_torchvision("wide_resnet50_2"),
    "vgg16": lambda: from_torchvision("vgg16"),
    "vgg16_bn": lambda: from_torchvision("vgg16_bn"),
    "timm resnet50": timm_resnet,
    "qwen2": lambda: text_model("Qwen2", **SMALL, num_key_value_heads=2),
    "qwen3": lambda: text_model("Qwen3", **SMALL, num_key_value_heads=2, head_dim=16),
    "t5": lambda: t5("T5", d_ff=256, vocab_size=512),
    "mt5": lambda: t5("MT5", d_ff=128, vocab_size=640, num_layers=4),
    "mistral": lambda: text_model("Mistral", **SMALL, num_key_value_heads=2),
    "mixtral": lambda: text_model("Mixtral", **SMALL, num_key_value_heads=2, num_local_experts=4),
}
SIZES = (
    "breaking size 64 → 128, 128 → 256, 256 → 512, 512 → 1024 (Conv2d) ×32"
    " at layer1.*.conv1, layer1.*.conv2, layer2.*.conv1 and 5 more"
)
DENSE = "encoder.block.*.layer.*.DenseReluDense, decoder.block.*.layer.*.DenseReluDense"
INNER = "encoder.block.*.layer.*.DenseReluDense.wi_*, decoder.block.*.layer.*.DenseReluDense.wi_*"
ATTENTION = "model.layers.*.self_attn"
REPORTS = {
    ("resnet50", "resnet101"): ["breaking layer3: 6 → 23 × Bottleneck (+19M parameters)"],
    ("resnet50", "resnext50"): [
        SIZES,
        "breaking Conv2d groups 1 → 32 ×16 at layer1.*.conv2, layer2.*.conv2, layer3.*.conv2 and 1 more",
    ],
    ("resnet50", "wide_resnet50"): [SIZES],
    ("vgg16", "vgg16_bn"): ["breaking BatchNorm2d added as * ×13 at features.* (+8.45K parameters)"],
    ("resnet50", "timm resnet50"): [],
    ("qwen2", "qwen3"): [
        f"breaking Qwen3RMSNorm added as q_norm ×3 at {ATTENTION}.q_norm (+48 parameters)",
        f"breaking Qwen3RMSNorm added as k_norm ×3 at {ATTENTION}.k_norm (+48 parameters)",
        f"breaking Linear bias true → false ×9 at {ATTENTION}.q_proj, {ATTENTION}.k_proj, {ATTENTION}.v_proj",
    ],
    ("t5", "mt5"): [
        "breaking encoder.block, decoder.block: 3 → 4 × MT5Block (+98.6K parameters)",
        "breaking size 512 → 640 (Embedding) ×4 at encoder.embed_tokens, decoder.embed_tokens, lm_head and 1 more",
        f"breaking size 256 → 128 (out_features of Linear) ×6 at {INNER}",
        f"breaking T5DenseActDense replaced by MT5DenseGatedActDense ×6 at {DENSE} (−49.2K parameters)",
        "notable op mul removed at (model)",
    ],
    ("mistral", "mixtral"): [
        "breaking MistralMLP replaced by MixtralSparseMoeBlock ×3 at model.layers.*.mlp (+222K parameters)"
    ],
}


@pytest.mark.parametrize("pair", REPORTS, ids=" and ".join)
def test_reports_of_real_pairs(pair):
    found = modeldiagrams.diff(*(SIDES[name]() for name in pair))
    told = [f"{one.level} {one.text}" for one in found.changes if one.level != "detail" and one.caused_by is None]
    assert told == REPORTS[pair]
    assert len(told) <= LIMIT


def test_two_libraries_compute_the_same_resnet():
    found = modeldiagrams.diff(SIDES["resnet50"](), SIDES["timm resnet50"]())
    assert found.same_computation
    assert found.checkpoints.verdict == "load"
    assert "the outputs are computed as before" in str(found)
