"""The table of modules says what torchinfo says, where torchinfo counts what we count."""

from __future__ import annotations

import pytest
import torch
import transformers
from torch import nn

import modeldiagrams


def resnet18() -> nn.Module:
    sizes = [64, 128, 256, 512]
    config = transformers.ResNetConfig(layer_type="basic", hidden_sizes=sizes, depths=[2, 2, 2, 2], num_labels=1000)
    return transformers.ResNetForImageClassification(config)


IDS = torch.zeros(1, 16, dtype=torch.long)
MODELS = {
    "resnet": lambda: (resnet18(), torch.zeros(1, 3, 64, 64)),
    "bert": lambda: (transformers.BertModel(transformers.BertConfig(num_hidden_layers=3)), IDS),
    "gpt2": lambda: (transformers.GPT2Model(transformers.GPT2Config(n_layer=3)), IDS),
}
MULTIPLIED = (nn.Conv2d, nn.Linear)


def torchinfo_summary(model, inputs):
    import torchinfo  # noqa: PLC0415  (only this test needs it)

    return torchinfo.summary(model.eval(), input_data=inputs, depth=99, verbose=0)


@pytest.fixture(scope="module", params=MODELS)
def both(request):
    model, inputs = MODELS[request.param]()
    return torchinfo_summary(model, inputs), modeldiagrams.trace(model, (inputs,))


def test_totals_of_parameters_are_equal(both):
    theirs, graph = both
    row = modeldiagrams.summary(graph).rows[0]
    assert (row["parameters"], row["trainable"]) == (theirs.total_params, theirs.trainable_params)


def test_each_module_has_their_parameters_and_output_shape(both):
    theirs, graph = both
    calls = {}
    for info in theirs.summary_list[1:]:
        path = _path(info)
        calls[path] = (max(0, info.num_params), tuple(info.output_size))
    for call in graph.module_calls():
        shapes = [graph.tensors[tensor].shape for tensor in call.outputs.values()]
        parameters, shape = calls[call.path]
        assert call.parameters.total == parameters, call.path
        assert shape in shapes or len(shapes) != 1, call.path


def test_flops_are_twice_their_multiply_adds_of_images():
    model, inputs = MODELS["resnet"]()
    theirs = torchinfo_summary(model, inputs).total_mult_adds
    # they add one for each weight of a norm, and for each bias
    extra = sum(
        weight.numel()
        for module in model.modules()
        for name, weight in module.named_parameters(recurse=False)
        if name == "bias" or not isinstance(module, MULTIPLIED)
    )
    assert modeldiagrams.trace(model, (inputs,)).model.flops == 2 * (theirs - extra)


def _path(info):
    names = []
    while info.parent_info is not None:
        names.append(info.var_name)
        info = info.parent_info
    return ".".join(reversed(names))
