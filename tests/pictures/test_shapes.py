"""Models look as in the figures of their papers, as far as their structure says how."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import transformers

from gallery_models import IMAGE, MODELS
from modeldiagrams import trace
from modeldiagrams.ir.graph import Graph
from modeldiagrams.options.options import View
from modeldiagrams.render.draw import render
from pictures.opened import opened
from truth.cells import NormalCell
from truth.drawn import Box, read
from truth.levels import Detector, FlatDecoder, NestedU
from truth.models import SEQUENCE, EqualLevels, TwoSkips

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

from demo_models.architectures.denoising import DiffusionUNet
from demo_models.architectures.inputs import IMAGE_TOKEN, qwen2_vl_inputs
from demo_models.architectures.pixels import FeaturePyramid, HRNet

WIDEST = 822
"""In a column of 740 px, the smallest text of a picture so wide has 9 px."""
COLUMN, TALLEST = 740, 1400


def middle(box: Box) -> float:
    return box.x + box.width / 2


@pytest.mark.parametrize(
    ("make", "inputs", "down", "bottom", "up"),
    [
        (
            MODELS["unet"].make,
            IMAGE,
            ["inner", "down.0", "down.1"],
            "down.2",
            [
                "up.0",
                "/cat",
                "merge.0",
                "up.1",
                "/cat#2",
                "merge.1",
                "up.2",
                "/cat#3",
                "merge.2",
                "head",
                "output:output",
            ],
        ),
        (
            DiffusionUNet,
            {**IMAGE, "step": torch.zeros(1)},
            ["inner", "down1", "shrink1", "down2", "shrink2", "middle1"],
            "attention",
            ["middle2", "grow2", "/cat", "up2", "grow1", "/cat#2", "up1", "outer", "output:output"],
        ),
        (
            TwoSkips,
            {"image": torch.zeros(1, 3, 16, 16)},
            ["inner", "down.0", "down.1", "down.2"],
            "middle",
            ["up.0", "up.1", "up.2", "outer", "output:output"],
        ),
        (
            EqualLevels,
            {"x": SEQUENCE},
            ["down.0", "down.1", "down.2"],
            "middle",
            ["/cat", "up.0", "/cat#2", "up.1", "/cat#3", "up.2", "output:output"],
        ),
    ],
    ids=["unet", "diffusion", "two skips", "equal levels"],
)
def test_u(make, inputs, down: list[str], bottom: str, up: list[str]) -> None:
    """At first, and not if the author says so."""
    graph = trace(make().eval(), (), inputs)
    boxes = read(render(graph, View()).svg).boxes
    assert boxes[""].width <= WIDEST
    assert all(boxes[one].y + boxes[one].height < boxes[next_].y for one, next_ in pairwise(down))
    assert all(boxes[one].y > boxes[next_].y + boxes[next_].height for one, next_ in pairwise(up))
    ends = [max(boxes[name].x + boxes[name].width for name in down), min(boxes[name].x for name in up)]
    assert ends == sorted(ends)
    assert boxes[bottom].y > max(boxes[name].y + boxes[name].height for name in (*down, *up))
    assert middle(boxes[down[-1]]) < middle(boxes[bottom]) < middle(boxes[up[0]])
    plain = read(render(graph, View(shapes="none")).svg).boxes
    assert plain["output:output"].y == max(box.y for name, box in plain.items() if name)


def test_feature_pyramid() -> None:
    """As in the figure of its paper: pathways beside each other, laterals between them, and all levels lead out."""
    boxes = read(render(trace(FeaturePyramid().eval(), (), IMAGE), View()).svg).boxes
    assert boxes[""].width <= WIDEST
    assert not [name for name in boxes if name.startswith("bundle:")]
    down, up = ["backbone.stages.0", "backbone.stages.1", "backbone.stages.2"], ["pyramid/add", "pyramid/add#2"]
    assert all(boxes[one].y + boxes[one].height < boxes[next_].y for one, next_ in pairwise(down))
    assert boxes[up[1]].y + boxes[up[1]].height < boxes[up[0]].y
    for level, join in enumerate(reversed(up)):
        stage, lateral = boxes[down[level]], boxes[f"pyramid.lateral.{level}"]
        assert stage.x + stage.width < lateral.x < lateral.x + lateral.width < boxes[join].x
        assert abs(lateral.y - stage.y) < lateral.height
    heads = [boxes[name] for name in ("head", "head#2", "head#3")]
    assert min(head.y for head in heads) > boxes["pyramid"].y + boxes["pyramid"].height


def test_body_and_pyramid_of_a_backbone() -> None:
    """As torchvision has them, in a container: bottom-up and top-down pathways beside each other, level by level."""
    view = View(expand=["backbone", "backbone.body", "backbone.fpn"])
    boxes = read(render(trace(Detector().eval(), (torch.zeros(1, 3, 16, 16),)), view).svg).boxes
    body, fpn = boxes["backbone.body"], boxes["backbone.fpn"]
    assert body.x + body.width < fpn.x
    assert body.y < fpn.y + fpn.height
    assert fpn.y < body.y + body.height
    joins = ["backbone.fpn/add#3", "backbone.fpn/add#2", "backbone.fpn/add"]
    ups = [boxes[name] for name in joins]
    assert all(upper.y + upper.height < lower.y for upper, lower in pairwise(ups))
    for level, join in enumerate(ups):
        lateral, smooth = boxes[f"backbone.fpn.inner.{level}"], boxes[f"backbone.fpn.layer.{level}"]
        assert body.x + body.width < lateral.x < lateral.x + lateral.width < join.x
        assert smooth.y < join.y
    assert boxes["backbone.fpn.inner.3"].y > ups[-1].y
    assert boxes["head"].y > max(body.y + body.height, fpn.y + fpn.height)


def seeing() -> Graph:
    """Qwen2-VL, small, with a text and an image."""
    rope = {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 10000.0}
    text = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 12, "num_attention_heads": 4}
    text |= {"num_key_value_heads": 2, "vocab_size": 1000, "bos_token_id": 1, "eos_token_id": 2}
    vision = {"depth": 8, "embed_dim": 32, "num_heads": 4, "hidden_size": 64, "patch_size": 4, "mlp_ratio": 2}
    names = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    ids = dict(zip(names, range(IMAGE_TOKEN, IMAGE_TOKEN + 4), strict=True))
    config = transformers.Qwen2VLConfig(
        text_config={**text, "rope_parameters": rope}, vision_config={**vision, "spatial_merge_size": 2}, **ids
    )
    return trace(transformers.Qwen2VLForConditionalGeneration(config).eval(), (), qwen2_vl_inputs())


def test_a_tower_for_images_stands_beside_the_language_model() -> None:
    """At first both are open, each with a block."""
    picture = render(seeing(), View())
    boxes = read(picture.svg).boxes
    assert {"Qwen2VLVisionBlock", "Qwen2VLDecoderLayer"} <= set(opened(picture.svg))
    visual, tokens = boxes["model.visual"], boxes["model.language_model.embed_tokens"]
    assert visual.y == tokens.y
    beside = [tokens, boxes["model/masked_scatter"], boxes["model.language_model"]]
    assert visual.x + visual.width < min(box.x for box in beside)
    assert visual.y < boxes["model.language_model"].y < visual.y + visual.height
    assert picture.width <= WIDEST
    assert picture.height * COLUMN / picture.width <= TALLEST


@pytest.mark.parametrize("direction", ["TB", "LR"])
def test_u_in_both_directions(direction) -> None:
    """Its encoder is left of its decoder anyway, and lines would be no U."""
    graph = trace(MODELS["unet"].make().eval(), (), IMAGE)
    boxes = read(render(graph, View(direction=direction)).svg).boxes
    down, up = ["inner", "down.0", "down.1"], ["merge.0", "merge.1", "merge.2"]
    assert all(boxes[one].y + boxes[one].height < boxes[next_].y for one, next_ in pairwise(down))
    assert all(boxes[one].y > boxes[next_].y + boxes[next_].height for one, next_ in pairwise(up))
    assert max(boxes[name].x + boxes[name].width for name in down) < min(boxes[name].x for name in up)
    assert boxes[""].width <= WIDEST
    plain = read(render(graph, View(direction=direction, shapes="none")).svg).boxes
    assert plain["output:output"].y == max(box.y for name, box in plain.items() if name)


@pytest.mark.parametrize("opened", [None, ["down.1"]], ids=["outer", "inner"])
def test_nested_u(opened: list[str] | None) -> None:
    """As in the figure of U²-Net: each level is read at the side, too, and fused below; an open one is a U again."""
    graph = trace(NestedU().eval(), (torch.zeros(1, 3, 64, 64),))
    boxes = read(render(graph, View(expand=opened)).svg).boxes
    down, up = ["down.0", "down.1", "down.2", "bottom"], ["up.2", "up.1", "up.0"]
    assert all(boxes[one].y + boxes[one].height < boxes[next_].y for one, next_ in pairwise(down))
    assert all(boxes[one].y > boxes[next_].y + boxes[next_].height for one, next_ in pairwise(up))
    assert max(boxes[name].x + boxes[name].width for name in down) < min(boxes[name].x for name in up)
    for level, side in zip(reversed(up), ("side.0", "side.1", "side.2"), strict=True):
        assert boxes[side].y + boxes[side].height < boxes[level].y
    assert boxes["fuse"].y > max(boxes[name].y + boxes[name].height for name in (*down, *up))
    if opened is not None:
        assert boxes["down.1.down.0"].x + boxes["down.1.down.0"].width < boxes["down.1.up.0"].x
        assert boxes["down.1.up.0"].y < boxes["down.1.up.2"].y


def test_container_and_what_follows_it() -> None:
    """An encoder that is a container, and a decoder that is none, are one U with level skips at first."""
    picture = read(render(trace(FlatDecoder().eval(), (torch.zeros(1, 3, 16, 16),)), View()).svg)
    boxes = picture.boxes
    assert boxes[""].width <= WIDEST
    up = ["merge.0", "up.1", "merge.1", "up.2", "merge.2", "output:output"]
    assert all(boxes[one].y > boxes[next_].y + boxes[next_].height for one, next_ in pairwise(up))
    assert boxes["encoder"].x + boxes["encoder"].width < min(boxes[name].x for name in up)
    assert boxes["up.0"].y > max(box.y + box.height for name, box in boxes.items() if name not in {"", "up.0"})


def test_streams_keep_their_places() -> None:
    """As in the figure of HRNet: each stream runs straight through all stages, and a new one begins at its right."""
    boxes = read(render(trace(HRNet().eval(), (), IMAGE), View()).svg).boxes
    assert boxes[""].width <= WIDEST
    rows = {name: re.findall(rf"'({name}\.streams[^']*)'", str([*boxes])) for name in ("stage2", "stage3")}
    assert [len(row) for row in rows.values()] == [2, 3]
    for row in rows.values():
        assert len({boxes[name].y for name in row}) == 1
    for stream, names in enumerate((["stem", "stage1"], ["down1"], ["down2"])):
        names += [row[stream] for row in rows.values() if stream < len(row)]
        places = [middle(boxes[name]) for name in names]
        assert max(places) - min(places) < 1


def test_cell() -> None:
    """As in the figure of NASNet: ops in a row in pairs, joins in a row below them, all put together at the end."""
    images = torch.zeros(1, 8, 16, 16), torch.zeros(1, 8, 16, 16)
    boxes = read(render(trace(NormalCell().eval(), images), View(depth=1, fit=(2000, 2000))).svg).boxes
    pairs = [("left.0", "right.0"), ("left.1", "right.1"), ("left.2",), ("left.3", "right.2"), ("left.4",)]
    joins = [boxes["/add" if i == 0 else f"/add#{i + 1}"] for i in range(5)]
    ops = [boxes[name] for pair in pairs for name in pair]
    assert all(left.x + left.width < right.x for left, right in pairwise(ops))
    lowest = max(op.y + op.height for op in ops)
    assert lowest < min(join.y for join in joins)
    assert len({join.y + join.height / 2 for join in joins}) == 1
    for pair, join in zip(pairs, joins, strict=True):
        assert min(boxes[name].x for name in pair) < middle(join)
        assert middle(join) < max(boxes[name].x + boxes[name].width for name in pair)
    assert boxes["/cat"].y > max(join.y + join.height for join in joins)
