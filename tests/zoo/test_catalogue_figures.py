"""What catalogues say of models, against torch: weights counted once, its own counter of FLOPs, modules that ran."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import torch
import transformers
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from modeldiagrams.ir.figures import list_figures
from modeldiagrams.options.options import Call
from modeldiagrams.resolve import record, resolve
from zoo.apart import import_from_zoo

if TYPE_CHECKING:
    from modeldiagrams.ir.figures import Figures

pytestmark = pytest.mark.filterwarnings("ignore")

TORCHVISION = """
    resnet18 resnet50 resnext50_32x4d vgg11_bn densenet121 mobilenet_v3_small efficientnet_b0 googlenet inception_v3
    regnet_y_400mf shufflenet_v2_x0_5 squeezenet1_1 convnext_tiny vit_b_16 swin_v2_t maxvit_t alexnet
    segmentation.fcn_resnet50 segmentation.lraspp_mobilenet_v3_large video.r3d_18 video.mvit_v2_s
"""
TRANSFORMERS = ("BertModel", "GPT2LMHeadModel", "T5Model", "AlbertModel", "ResNetModel")
"""Tied weights of several kinds: to an embedding, between encoder and decoder, layers that share all of theirs."""


def disagreements(figures: Figures, model: torch.nn.Module, inputs: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Figure → what the catalogue says and what torch says, where they differ."""
    called: dict[torch.nn.Module, str] = {}
    hooks = [
        module.register_forward_pre_hook(lambda module, _: called.update({module: type(module).__name__.lstrip("_")}))
        for module in model.modules()
        if module is not model
    ]
    # torch doesn't count its kernels of attention for CPUs
    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model.eval()(**inputs)
    for hook in hooks:
        hook.remove()
    weights = {id(weight): weight.numel() for module in model.modules() for weight in module.parameters(recurse=False)}
    said = {
        "class": (figures.class_, f"{type(model).__module__}.{type(model).__qualname__}"),
        "parameters": (figures.parameters, sum(weights.values())),
        "flops": (figures.flops, counter.get_total_flops()),
        "layers": (figures.layers, dict(Counter(called.values()))),
    }
    return {name: pair for name, pair in said.items() if pair[0] != pair[1]}


def _inputs(figures: Figures, *, are_tokens: bool) -> dict[str, torch.Tensor]:
    shapes = {name: shape for name, shape in figures.inputs.items() if shape}
    if are_tokens:
        return {name: torch.ones(shape, dtype=torch.int64) for name, shape in shapes.items()}
    return {name: torch.randn(shape) for name, shape in shapes.items()}


@pytest.mark.parametrize("name", TORCHVISION.split())
def test_figures_of_torchvision(name):
    models = import_from_zoo("torchvision").models
    figures = list_figures(record(resolve(Call(model=f"torchvision.models.{name}"))).graph)
    more = {"weights_backbone": None} if name.startswith("segmentation") else {}
    model = models.get_model_builder(name.rpartition(".")[2])(weights=None, **more)
    assert disagreements(figures, model, _inputs(figures, are_tokens=False)) == {}


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_figures_of_transformers(name):
    figures = list_figures(record(resolve(Call(model=f"transformers.{name}"))).graph)
    class_ = getattr(transformers, name)
    inputs = _inputs(figures, are_tokens="input_ids" in figures.inputs)
    found = disagreements(figures, class_(class_.config_class()), inputs)
    assert found.keys() <= {"layers"}, found
