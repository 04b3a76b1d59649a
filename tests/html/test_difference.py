"""What changed, as list and picture on a page: the same changes, with links in both directions."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
import torch
from torch import nn

import modeldiagrams
from edits.models import DEVELOPMENT
from edits.score import edited
from edits.subject import InapplicableError
from modeldiagrams.api.difference_pictures import DrawnComparison
from modeldiagrams.errors import RenderError

HOSTILE = "</p><script>alert(1)</script>"


class Block(nn.Module):
    def __init__(self, size=3, activation=nn.ReLU, *, norm=True, gate=False):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, size, padding=size // 2)
        self.norm = nn.BatchNorm2d(4) if norm else None
        self.act = activation()
        self.gate = nn.Conv2d(4, 4, 1) if gate else None

    def forward(self, x):
        y = self.conv(x)
        y = self.act(self.norm(y) if self.norm else y)
        return y * self.gate(y) if self.gate else y


class Net(nn.Module):
    def __init__(self, count=3, **block):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 1)
        self.blocks = nn.Sequential(*(Block(**block) for _ in range(count)))

    def forward(self, x):
        return self.blocks(self.stem(x))


def traced(**options):
    return modeldiagrams.trace(Net(**options).eval(), (torch.zeros(1, 3, 8, 8),))


@pytest.fixture(scope="module")
def plain():
    return traced()


def marked(svg):
    """Name of a box → its look, its badge and its detail, for all boxes but input and output."""
    root = ET.fromstring(svg)  # noqa: S314  drawn here
    found = {}
    for group in root.iter():
        classes = (group.get("class") or "").split()
        looks = {"mg-added", "mg-removed", "mg-changed", "mg-same"}.intersection(classes)
        if not looks or "data-id" not in group.attrib:
            continue
        own = [child for child in group if child.tag.endswith("text")]
        own += [child for part in group if "mg-header" in part.get("class", "") for child in part]
        pill = [child for child in group.iter() if "mg-times" in (child.get("class") or "")][:1]
        texts = ["".join(text.itertext()) for text in own if text.tag.endswith("text")]
        found[texts[0]] = (looks.pop(), "".join("".join(text.itertext()) for text in pill), *texts[1:])
    return found


def test_changed_boxes_name_the_change_and_others_are_faded(plain):
    boxes = marked(DrawnComparison(plain, traced(size=5, activation=nn.GELU), details=False).to_svg())
    assert boxes["conv"] == ("mg-changed", "~", "kernel_size 3×3 → 5×5, padding 1×1 → 2×2")
    assert boxes["act"] == ("mg-changed", "~", "ReLU → GELU")
    assert {name for name, (look, *_) in boxes.items() if look == "mg-same"} == {"x", "stem", "norm", "output"}


def test_added_and_removed_boxes_have_signs(plain):
    boxes = marked(DrawnComparison(plain, traced(norm=False, gate=True), details=False).to_svg())
    assert {name: boxes[name][:2] for name in ("norm", "gate", "mul")} == {
        "norm": ("mg-removed", "−"),
        "gate": ("mg-added", "+"),
        "mul": ("mg-added", "+"),
    }


def test_added_blocks_are_next_to_existing_ones(plain):
    boxes = marked(DrawnComparison(plain, traced(count=5), details=False).to_svg())
    assert {name: look for name, look in boxes.items() if name[0].isdigit()} == {
        "0–2": ("mg-same", "×3", "Block 4 → 4, 3×3"),
        "3–4": ("mg-added", "+ ×2", "Block 4 → 4, 3×3"),
    }


def test_marks_and_changes_link_to_each_other(plain):
    html = DrawnComparison(plain, traced(size=5, norm=False, gate=True), details=False).to_html()
    ids = re.findall(r'id="(difference-[\w-]+)"', html)
    assert len(ids) == len(set(ids))
    links = set(re.findall(r'href="#(difference-[\w-]+)"', html))
    assert 'role="img"' not in html  # links inside would be hidden from screen readers
    assert links <= set(ids)
    changes = {name for name in ids if "-change-" in name}
    assert len(changes) >= 4
    places = re.findall(r'id="difference-place-(\d+)"', html)
    assert len(places) >= 3
    for number in places:
        assert {f"difference-place-{number}", f"difference-change-{number}"} <= links


def test_two_changes_in_one_box_link_to_it(plain):
    html = DrawnComparison(plain, traced(size=5), details=False).to_html()
    links = re.findall(r'<li id="difference-change-\d"><a class="mg-mark" href="#(.*?)"', html)
    assert len(links) == 2
    assert len(set(links)) == 1
    assert html.count(f'id="{links[0]}"') == 1


@pytest.mark.parametrize("kind", ["member_added", "kernel", "dropout", "parameter_added", "buffer_added"])
def test_changed_boxes_are_not_faded(kind):
    subject = next(subject for subject in DEVELOPMENT if _bears(subject, kind))
    edit = edited(subject, kind)
    for graphs in ((subject.graph, edit.graph), (edit.graph, subject.graph)):
        compared = DrawnComparison(*graphs, details=False)
        faded = re.findall(r'class="[^"]*mg-same[^"]*" data-id="([^"]*)"', compared.to_svg())
        told = (change for change in compared.difference.changes if change.level != "detail")
        assert not {place[1] for change in told for place in change.places}.intersection(faded)


def _bears(subject, kind):
    try:
        edited(subject, kind)
    except InapplicableError:
        return False
    return True


def test_hostile_names_stay_text(plain):
    graph = traced()
    text = modeldiagrams.ir.serialize.serialize(graph).decode().replace("blocks", HOSTILE.replace('"', ""))
    hostile = modeldiagrams.ir.serialize.deserialize(text)
    html = (
        DrawnComparison(plain, hostile, details=True).to_html()
        + DrawnComparison(hostile, plain, details=True).to_html()
    )
    assert "<script>alert" not in html
    ET.fromstring(DrawnComparison(hostile, traced(size=5), details=True).to_svg())  # noqa: S314


def test_no_picture_without_changes_or_of_two_architectures(plain):
    with pytest.raises(RenderError, match="nothing changed, so there is no picture"):
        DrawnComparison(plain, plain, details=True).to_svg()
    other = modeldiagrams.trace(nn.LSTM(3, 90).eval(), (torch.zeros(1, 3, 3),))
    with pytest.raises(RenderError, match="two different architectures, so there is no picture"):
        DrawnComparison(plain, other, details=False).to_svg()
    html = DrawnComparison(plain, other, details=False).to_html()
    assert "two different architectures, made of:" in html
    assert "<svg" not in html


def test_the_same_graphs_give_the_same_bytes(plain):
    after = traced(size=5, norm=False)
    assert (
        DrawnComparison(plain, after, details=False).to_html() == DrawnComparison(plain, after, details=False).to_html()
    )
