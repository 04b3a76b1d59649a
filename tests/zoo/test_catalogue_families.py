"""Families are those judged by hand; names are told to be one model just where torch computes the same."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch

from modeldiagrams.engine.catalogue.entries import CatalogueModel
from modeldiagrams.engine.catalogue.families import find_families, join_aliases
from modeldiagrams.ir.figures import list_figures
from modeldiagrams.ir.traits import list_traits
from modeldiagrams.options.options import Call, Options
from modeldiagrams.resolve import record, resolve
from zoo.apart import import_from_zoo
from zoo.judged_families import JUDGED, judged_pairs

pytestmark = pytest.mark.filterwarnings("ignore")

PERHAPS_EQUAL = {
    "torchvision.models": """
        ResNet resnet18 resnet34 quantization.resnet18 VGG vgg11 vgg11_bn SwinTransformer swin_t swin_v2_t MaxVit
        maxvit_t ShuffleNetV2 shufflenet_v2_x0_5 SqueezeNet squeezenet1_0 RegNet regnet_y_400mf
        EfficientNet efficientnet_b0
    """,
    "timm.models": """
        vit_base_patch16_224 deit_base_patch16_224 vit_base_patch16_224_miil beit_base_patch16_224
        beitv2_base_patch16_224 vit_base_patch32_clip_224 vit_base_patch32_clip_quickgelu_224
        efficientnet_b0 tf_efficientnet_b0 mobilenetv3_large_100 mobilenetv3_rw
    """,
}
"""Classes, which their builders call with the values that were found here or with others; builders alike."""


def _described(name: str, target) -> CatalogueModel:
    graph = record(target).graph
    options = Options(call=Call(model=name))
    return CatalogueModel(name=name, options=options, id=name, figures=list_figures(graph), traits=list_traits(graph))


@pytest.mark.parametrize("package", JUDGED)
def test_families_are_those_judged_by_hand(package, report):
    if (library := package.partition(".")[0]) != "transformers":
        import_from_zoo(library)
    names = [f"{package}.{name}" for name in JUDGED[package].split()]
    models = [_described(name, resolve(Call(model=name))) for name in names]
    classes = {model.name: model.figures.class_ for model in models}
    families = find_families(models)
    found = {frozenset(pair) for family in families for pair in combinations([m.name for m in family.models], 2)}
    together, apart = ({frozenset(pair) for pair in pairs} for pairs in judged_pairs(package))
    report(f"{package}: {len(found & together)} of {len(together)} pairs together, {len(found & apart)} wrongly")
    # models of two classes are two entries, whatever they compute
    assert {pair for pair in together - found if len({classes[name] for name in pair}) == 1} == set()
    assert found & apart == set()


@pytest.mark.parametrize("package", PERHAPS_EQUAL)
def test_equal_graphs_are_told_and_no_others(package):
    import_from_zoo(package.partition(".")[0])
    targets = {name: resolve(Call(model=f"{package}.{name}")) for name in PERHAPS_EQUAL[package].split()}
    joined = join_aliases(_described(name, target) for name, target in targets.items())
    told = {frozenset(pair) for model in joined for pair in combinations([model.name, *model.aliases], 2)}
    equal = {frozenset(pair) for pair in combinations(targets, 2) if _compute_the_same(*map(targets.get, pair))}
    assert told == equal
    assert equal


def _compute_the_same(one, other) -> bool:
    shapes = [{name: value.shape for name, value in target.model.state_dict().items()} for target in (one, other)]
    inputs = [{name: value.shape for name, value in target.kwargs.items()} for target in (one, other)]
    if type(one.model) is not type(other.model) or shapes[0] != shapes[1] or inputs[0] != inputs[1]:
        return False
    for target in (one, other):
        if any(weight.is_meta for weight in target.model.parameters()):  # too large to be filled while it is resolved
            target.model.to_empty(device="cpu")
            for value in target.model.state_dict().values():
                value.uniform_(0, 0.01) if value.is_floating_point() else value.zero_()
    other.model.load_state_dict(one.model.state_dict())
    given = {name: torch.rand(shape) for name, shape in inputs[0].items()}
    with torch.no_grad():
        results = [target.model.eval()(**given) for target in (one, other)]
    return torch.equal(*results)
