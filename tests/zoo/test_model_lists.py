"""The lists of real libraries against their own registries. Slow: `make zoo`."""

from __future__ import annotations

import pytest
from transformers.models.auto import modeling_auto

from modeldiagrams.resolve.libraries.public_models import find_models
from modeldiagrams.resolve.values.locate import locate
from zoo.apart import import_from_zoo

pytestmark = pytest.mark.filterwarnings("ignore")  # about modules that moved


def list_all(*of: str, exclude: tuple[str, ...] = ()) -> tuple[str, ...]:
    names, problems = find_models(of, exclude)
    assert problems == ()
    assert not any(part.startswith("_") for name in names for part in name.split("."))
    assert len({id(locate(name)) for name in names}) == len(names)
    return names


@pytest.mark.parametrize("part", ["", ".segmentation", ".detection", ".video", ".optical_flow", ".quantization"])
def test_torchvision(part):
    models = import_from_zoo("torchvision").models
    builders = {models.get_model_builder(name) for name in models.list_models()}
    inside = {each for each in builders if f"{each.__module__}.".startswith(f"torchvision.models{part}.")}
    found = {locate(name) for name in list_all(f"torchvision.models{part}")}
    assert {each for each in found if not isinstance(each, type)} == inside
    assert inside
    # only the parts of detectors are not what a function makes
    assert all(each.__module__.startswith("torchvision.models.detection.") for each in found - inside)


def test_timm():
    timm = import_from_zoo("timm")
    names = list_all("timm.models")
    functions = {name.removeprefix("timm.models.") for name in names if not isinstance(locate(name), type)}
    assert functions == {*timm.list_models()}
    assert len(functions) > 0.97 * len(names), "others are parts of models and wrappers"
    assert {"timm.models.resnet18", "timm.models.BasicBlock"} < {*names}
    assert not {"timm.models.ResNet", "timm.models.VisionTransformer"} & {*names}


def test_transformers():
    wanted = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()
    names = {name.removeprefix("transformers.") for name in list_all("transformers.*ForCausalLM")}
    assert {name for name in wanted if name.endswith("ForCausalLM")} <= names
    assert len(names) > 100
    assert "AutoModelForCausalLM" not in names


def test_torch():
    names = list_all("torch.nn", exclude=("torch.nn.utils", "torch.nn.c??"))
    assert {"torch.nn.Linear", "torch.nn.Transformer"} < {*names}
    assert all(name.count(".") == 2 for name in names)
