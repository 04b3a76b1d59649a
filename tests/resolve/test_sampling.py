"""What flows through models: samples are what hooks of torch see, and pictures show the maps."""

from __future__ import annotations

import base64
import struct
import zlib

import msgspec
import pytest
import torch
import transformers
from torch import nn

import modeldiagrams
from gallery_models import demo_models
from modeldiagrams.errors import GraphError, OptionError
from modeldiagrams.ir.graph import ModuleNode
from modeldiagrams.ir.samples import TensorSample
from modeldiagrams.ir.serialize import deserialize, serialize
from modeldiagrams.overlay.sampled_numbers import read_samples
from modeldiagrams.resolve import sampling
from modeldiagrams.tracer.values.pass_records import Value

SMALL = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}
TOKENS = torch.arange(16).reshape(1, 16) % 100
IMAGE = demo_models.rings()


def _make(name: str, **options: object) -> nn.Module:
    config = getattr(transformers, f"{name}Config")(**options)
    return getattr(transformers, f"{name}Model")(config)


MODELS = {
    "ResidualCNN": lambda: (demo_models.ResidualCNN(), IMAGE),
    "DenseNet": lambda: (demo_models.DenseNet(), IMAGE),
    "Inception": lambda: (demo_models.Inception(), IMAGE),
    "UNet": lambda: (demo_models.UNet(), IMAGE),
    "Generator": lambda: (demo_models.Generator(), torch.randn(1, 100)),
    "LSTMClassifier": lambda: (demo_models.LSTMClassifier(), TOKENS),
    "BERT": lambda: (_make("Bert", **SMALL, attn_implementation="eager"), TOKENS),
    "GPT-2": lambda: (_make("GPT2", n_layer=2, n_embd=32, n_head=4, attn_implementation="eager"), TOKENS),
    "LLaMA": lambda: (_make("Llama", **SMALL, vocab_size=100, num_key_value_heads=2), TOKENS),
    "ViT": lambda: (_make("ViT", **SMALL, image_size=96, attn_implementation="eager"), IMAGE),
    "Swin": lambda: (_make("Swin", embed_dim=24, depths=[1, 1], num_heads=[2, 4], image_size=96, window_size=6), IMAGE),
    "ConvNeXt": lambda: (_make("ConvNext", hidden_sizes=[16, 32, 32, 32], depths=[1, 1, 1, 1]), IMAGE),
}


def levels_of(picture: str) -> torch.Tensor:
    """Decode one of our PNG files: a byte per pixel, no filter."""
    data = base64.b64decode(picture)
    width, height = struct.unpack(">II", data[16:24])
    (length,) = struct.unpack(">I", data[33:37])
    rows = torch.frombuffer(bytearray(zlib.decompress(data[41 : 41 + length])), dtype=torch.uint8).reshape(height, -1)
    assert rows.shape[1] == width + 1
    return rows[:, 1:].double()


def hooked_outputs(model: nn.Module, given: torch.Tensor) -> dict[str, torch.Tensor]:
    """The first tensor that each module returns when it is called first."""
    found: dict[str, torch.Tensor] = {}

    def keep(name: str, output: object) -> None:
        first = output[0] if isinstance(output, tuple) else output
        if isinstance(first, torch.Tensor):
            found.setdefault(name, first.clone())

    handles = [
        module.register_forward_hook(lambda _, __, output, name=name: keep(name, output))
        for name, module in model.named_modules()
        if name
    ]
    with torch.no_grad():
        model(given)
    for handle in handles:
        handle.remove()
    return found


@pytest.mark.parametrize("name", MODELS)
def test_samples_are_what_hooks_see(name: str) -> None:
    torch.manual_seed(0)
    model, given = MODELS[name]()
    model.eval()
    plain = modeldiagrams.trace(model, (given,))
    graph = modeldiagrams.trace(model, (given,), sample=True)
    assert msgspec.structs.replace(graph, samples=None) == plain
    assert not graph.samples.random_inputs
    samples = graph.samples.tensors
    weights = ("parameter:", "buffer:", "constant:")
    computed = {name for name, spec in graph.tensors.items() if not name.startswith(weights) and 0 not in spec.shape}
    assert computed <= {*samples}
    n_compared = 0
    for path, tensor in hooked_outputs(model, given).items():
        node = graph.by_id.get(path)
        if not isinstance(node, ModuleNode) or not node.outputs:
            continue
        sample = samples[next(iter(node.outputs.values()))]
        values = tensor.double()
        expected = values.std(correction=0), values.min(), values.max(), (values == 0).double().mean()
        got = sample.std, sample.min, sample.max, sample.zeros
        assert got == pytest.approx([*map(float, expected)], rel=2e-3, abs=1e-5), path
        assert sample.mean == pytest.approx(float(values.mean()), rel=1e-3, abs=1e-3 * sample.std), path
        n_compared += 1
    assert n_compared >= 5
    lengths = [len(sample.picture) for sample in samples.values()]
    assert max(lengths) <= 2000
    assert sum(lengths) <= 150_000
    assert deserialize(serialize(graph)) == graph


def test_pictures_show_the_mean_of_the_maps() -> None:
    torch.manual_seed(0)
    model = demo_models.ResidualCNN().eval()
    samples = modeldiagrams.trace(model, (IMAGE,), sample=True).samples.tensors
    outputs = hooked_outputs(model, IMAGE)
    for name, tensor in [("input:image:0", IMAGE), ("stages.1.0/add:0", None), ("stem.0/conv2d:0", outputs["stem.0"])]:
        sample = samples[name]
        assert sample.picture, name
        if tensor is None:
            continue
        mean = tensor[0].double().mean(0)
        shown = torch.nn.functional.adaptive_avg_pool2d(mean[None], (36, 36))[0]
        levels = sample.darkest + levels_of(sample.picture) / 255 * (sample.brightest - sample.darkest)
        assert torch.allclose(levels, shown, atol=0.01 * float(shown.max() - shown.min()) + 1e-6)
        assert sample.averaged == tensor.shape[1]


def test_attention_has_pictures_and_projections_have_none() -> None:
    model, given = MODELS["BERT"]()
    samples = modeldiagrams.trace(model.eval(), (given,), sample=True).samples.tensors
    shown = [name for name, sample in samples.items() if sample.picture]
    assert len(shown) == 2
    assert all("softmax" in name for name in shown)
    assert all(samples[name].averaged == 4 for name in shown)


def test_the_largest_pictures_are_left_out_and_counted() -> None:
    class Deep(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(*(nn.Conv2d(3, 3, 1) for _ in range(100)))
            for layer in self.layers:
                nn.init.dirac_(layer.weight)

        def forward(self, image: torch.Tensor) -> torch.Tensor:
            x = self.layers(image)
            for _ in range(30):
                x = x + 1
            return x

    torch.manual_seed(0)
    samples = modeldiagrams.trace(Deep(), (torch.rand(1, 3, 64, 64),), sample=True).samples
    lengths = {name: len(sample.picture) for name, sample in samples.tensors.items() if sample.picture}
    assert 140_000 < sum(lengths.values()) <= 150_000
    assert samples.without_picture == 131 - len(lengths) > 0
    assert "input:image:0" in lengths
    assert all(name.startswith(("input:", "layers")) for name in lengths)


def test_values_that_are_no_numbers_are_counted() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return (x / x).log() * float("inf")

    samples = modeldiagrams.trace(function, (torch.tensor([0.0, 1.0, 2.0, -2.0]),), sample=True).samples.tensors
    assert samples["/div:0"] == modeldiagrams.ir.graph.TensorSample(mean=1, std=0, min=1, max=1, nan=1)
    assert samples["/log:0"].zeros == 0.75
    assert samples["/mul:0"].nan == 4
    assert samples["/mul:0"].mean is None


def test_the_largest_numbers_have_statistics() -> None:
    lowest = torch.finfo(torch.float64).min

    def function(x: torch.Tensor, maps: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.masked_fill(x > 1, lowest), torch.relu(x), x * lowest, torch.nn.functional.max_pool2d(maps, 1)

    maps = lowest * torch.tensor([-1.0, 1.0]).double().repeat(1, 2, 4, 2)
    graph = modeldiagrams.trace(function, (torch.tensor([0.5, -1.0, 2.0, 3.0]).double(), maps), sample=True)
    masked, relu, product, pooled = (
        graph.samples.tensors[f"/{name}:0"] for name in ("masked_fill", "relu", "mul", "max_pool2d")
    )
    assert (masked.min, masked.max, masked.inf) == (lowest, 0.5, 0)
    assert (masked.mean, masked.std) == (pytest.approx(lowest / 2, 1e-3), pytest.approx(-lowest / 2, 1e-3))
    assert (relu.max, product.inf) == (3, 2)
    assert (pooled.mean, pooled.std, pooled.picture) == (0, -lowest, "")
    (spans,) = (one for one in read_samples(graph) if one.name == "Range")
    assert (spans.values["/relu"], spans.values["/max_pool2d"]) == (3, None)


def test_a_tensor_that_cannot_be_read_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    read = sampling._Sampler._sample

    def fail(sampler: sampling._Sampler, value: Value, tensor: torch.Tensor) -> TensorSample | None:
        return {}["gone"] if "relu" in value.id else read(sampler, value, tensor)

    monkeypatch.setattr(sampling._Sampler, "_sample", fail)
    graph = modeldiagrams.trace(lambda x: torch.relu(x) + 1, (torch.ones(2),), sample=True)
    assert [*graph.samples.tensors] == ["input:x:0", "/add:0"]


def test_a_model_that_has_no_real_pass_keeps_its_diagram() -> None:
    class OnlyShapes(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if type(x) is torch.Tensor:
                raise OSError("no such device")
            return x + 1

    graph = modeldiagrams.trace(OnlyShapes(), (torch.ones(2),), sample=True)
    assert graph.samples is None
    assert graph.status.state == "complete"
    assert (
        graph.status.notes[-1] == "Values were not sampled: with real values, the model raised OSError: no such device"
    )
    with torch.device("meta"):
        large = nn.Linear(2, 2)
    graph = modeldiagrams.trace(large, (torch.ones(1, 2),), sample=True)
    assert any(note.startswith("Values were not sampled: ") for note in graph.status.notes)
    with pytest.raises(OptionError, match=r"values.*were not sampled"):
        modeldiagrams.to_svg(graph, values="sample")


def test_inputs_that_nobody_gave_are_random_and_said_so() -> None:
    diagram = modeldiagrams.diagram(nn.Linear(3, 2), values="sample")
    assert diagram.graph.samples.random_inputs
    assert [numbers.name for numbers in diagram.overlay.numbers][:2] == [
        "Spread (random inputs)",
        "Mean (random inputs)",
    ]
    diagram = modeldiagrams.diagram(nn.Linear(3, 2), (torch.ones(1, 3),), values=["sample", {"linear": 1}])
    assert [numbers.name for numbers in diagram.overlay.numbers] == ["Spread", "Mean", "Range", "Zeros", "Values"]
    with pytest.raises(OptionError, match="this graph has no samples; trace the model with"):
        modeldiagrams.to_svg(modeldiagrams.trace(nn.Linear(3, 2), (torch.ones(1, 3),)), values="sample")


def test_samples_of_a_file_are_checked() -> None:
    graph = modeldiagrams.trace(nn.Linear(3, 2), (torch.ones(1, 3),), sample=True)
    for old, new, path in (
        ('"samples":{"tensors":{"', '"samples":{"tensors":{"other', r"\$\.samples\.tensors\['other"),
        ('"zeros":', '"picture":"\\" onload=\\"x","zeros":', r"picture: expected a PNG in base64"),
        ('"zeros":', '"zeros":"all","nothing":', r"\$\.samples\.tensors"),
    ):
        text = serialize(graph).decode()
        assert old in text
        with pytest.raises(GraphError, match=path):
            deserialize(text.replace(old, new, 1))


def test_a_real_pass_that_goes_another_way_says_so_and_lends_no_values() -> None:
    class Decides(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if type(x) is torch.Tensor:  # as a value may decide
                x = x + 100
                x = x.sin()
            else:
                x = x + 1
            return x * 2

    graph = modeldiagrams.trace(Decides(), (torch.ones(2),), sample=True)
    assert graph.samples is not None
    assert "/add:0" not in graph.samples.tensors
    assert graph.samples.tensors["input:x:0"].max == 1
    assert "ran other operations than those shown" in graph.status.notes[-1]
    several = modeldiagrams.trace(Decides(), (torch.ones(2),), cases={"a": {}, "b": {"mode": "real"}})
    with pytest.raises(OptionError, match="a graph of several passes has no samples"):
        modeldiagrams.to_svg(several, values="sample")
