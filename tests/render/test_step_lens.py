"""Still pictures of steps have the colours and the scale of the step's lens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from torch import nn

import modeldiagrams
from modeldiagrams.options.options import View
from modeldiagrams.options.steps import Step
from modeldiagrams.render.draw import Authored, Flat, Picture, embed_style, render

GRAPH = Path(__file__).parents[1] / "golden" / "stack.json"
VIEW = View(depth=2)
NODE = re.compile(r'<g class="mg-node ([^"]*)" data-id="([^"]*)"')
LEGEND = re.compile(r'<g class="(mg-family-[^"]*)" transform[^>]*><rect [^>]*/><text [^>]*>([^<]*)</text>')


def drawn(lens: str | None, flat: Flat | None = None) -> Picture:
    return render(modeldiagrams.load(GRAPH), VIEW, flat=flat, beside=Authored(steps=(Step(lens=lens),)))


def test_classes_have_the_colours_of_the_legend() -> None:
    (step,) = drawn("class").steps
    families = {name: words.split()[-1] for words, name in NODE.findall(step.svg)}
    legend = dict(map(reversed, LEGEND.findall(step.svg)))
    graph = modeldiagrams.load(GRAPH)
    coloured = {
        name: family
        for name, family in families.items()
        if name in graph.by_id and getattr(graph.by_id[name], "class_", "").rpartition(".")[2] in legend
    }
    assert coloured
    assert all(legend[graph.by_id[name].class_.rpartition(".")[2]] == family for name, family in coloured.items()), (
        legend
    )


@pytest.mark.parametrize("lens", ["parameters", "flops", "memory", "intensity"])
def test_amounts_have_tints_and_a_scale(lens) -> None:
    (step,) = drawn(lens).steps
    tints = {int(tint) for tint in re.findall(r'mg-node[^"]* mg-amount-(\d)', step.svg)}
    assert max(tints) > 0
    assert [words.split()[-1] for words, _ in LEGEND.findall(step.svg)] == [f"mg-amount-{i}" for i in range(1, 6)]
    assert not any("mg-kind-input" in words and "amount" in words for words, _ in NODE.findall(step.svg))
    assert ".mg-amount-5" in embed_style(step, VIEW, Authored()).svg


def test_flat_pictures_have_the_lens_too() -> None:
    assert "#d9722e" in drawn("parameters", Flat()).svg
    assert "#d9722e" not in drawn(None, Flat()).svg


def test_steps_without_a_lens_do_not_change() -> None:
    picture = drawn(None)
    assert "mg-amount" not in embed_style(picture.steps[0], VIEW, Authored()).svg
    assert picture.steps[0].svg == picture.svg


def test_measured_times_have_tints() -> None:
    graph = modeldiagrams.trace(nn.Sequential(nn.Linear(8, 8), nn.ReLU()), (torch.zeros(1, 8),), measure_time=True)
    (step,) = render(graph, VIEW, beside=Authored(steps=(Step(lens="time"),))).steps
    assert step.lens == "time"
    assert re.search(r'mg-node[^"]* mg-amount-\d', step.svg)
    assert "Own time: &lt; 1 %" in step.svg
    (without,) = drawn("time").steps
    assert without.lens is None
    assert without.svg == drawn(None).steps[0].svg
