"""What is said about cases: in outlines, tables, text formats and text alternatives."""

from __future__ import annotations

import re

import torch
from torch import Tensor, nn

import modeldiagrams
from modeldiagrams.engine.diagram import Diagram
from modeldiagrams.html.descriptions import describe_picture
from modeldiagrams.html.fragment import render_element
from modeldiagrams.ir.case_texts import AS_TRACED
from modeldiagrams.ir.cases import unite_cases
from modeldiagrams.ir.graph import Graph
from modeldiagrams.ir.remarks import list_remarks
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.tracer import trace

NOWHERE = "in no pass of the model itself"


class Net(nn.Module):
    """Two layers; in training a third one, and a mask only if it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.more = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.body(x)
        if self.training:
            x = self.more(x).tanh()
        if mask is not None:
            x = x * mask
        return self.head(x)  # type: ignore[no-any-return]


def several() -> Graph:
    """Inference on two rows, training on one, one that fails, and one that was forced."""
    model = Net().eval()
    graphs = {"infer": trace(model, (torch.ones(2, 4),))}
    graphs["train"] = trace(model.train(), (torch.ones(1, 4),))
    graphs["bad"] = trace(model.eval(), (torch.ones(1, 5),))
    graphs["forced"] = trace(model, (torch.ones(2, 4), torch.ones(4)))
    return unite_cases(graphs, {"train": "training: true"}, {"forced"})


def drawn(graph: Graph) -> Diagram:
    return Diagram(id="net", options=parse_options({"model": "net.json"}), graph=graph, picture=None, problem=None)


def test_remarks_name_cases_costs_errors_and_differences() -> None:
    remarks = list_remarks(several())
    assert remarks[0] == "Case a, infer: 96 FLOPs, 48 B of activations, shapes only."
    assert remarks[1].startswith("Case b, train (training: true): 80 FLOPs, ")
    assert remarks[2] == "Case bad failed: mat1 and mat2 shapes cannot be multiplied (1x5 and 4x4)"
    assert f"1 input {NOWHERE}; 2 parts only in train; 1 part {NOWHERE}." in remarks


def test_forced_passes_are_named_and_a_pass_without_cases_is_not() -> None:
    graphs = [trace(Net().eval(), (torch.ones(2, 4), *more)) for more in ((), (torch.ones(4),))]
    graph = unite_cases(dict(zip((AS_TRACED, "net.py:7 yes"), graphs, strict=True)), {}, {"net.py:7 yes"})
    remarks = list_remarks(graph)
    assert remarks[0] == "Dashed: only in passes with a forced answer, net.py:7 yes."
    assert not any("traced" in remark for remark in remarks)
    assert "through its code in some cases only" not in render_element(drawn(graph))


def test_ways_of_some_cases_are_counted_if_none_was_left_out() -> None:
    model = Net()
    graphs = {
        mode: trace(model.train(mode == "train"), (torch.ones(2, 4), torch.ones(4))) for mode in ("eval", "train")
    }
    assert "1 way through its code in some cases only" in render_element(drawn(unite_cases(graphs)))


def test_a_graph_of_one_pass_says_nothing_of_cases() -> None:
    graph = trace(Net().eval(), (torch.ones(2, 4),))
    assert not any("Case" in text for text in (*list_remarks(graph), str(modeldiagrams.summary(graph))))


def test_outline_names_cases_only_where_some_lack_a_module() -> None:
    html = render_element(drawn(several()))
    rows = dict(re.findall(r'data-node="([^"]*)".*?</span>(.*?)(?:</li>|<ul>)', html))
    assert '<span class="mg-said">(only in train)</span>' in rows["more"]
    assert "mg-said" not in rows["body"]


def test_table_shows_cells_side_by_side_where_they_differ() -> None:
    table = modeldiagrams.summary(several())
    lines = {line.split()[0]: re.split(r"\s{2,}", line.strip()) for line in str(table).splitlines()[2:7]}
    assert lines["Net"][2:] == ["2×2 | 1×2", "50", "50", "96 | 80", "1"]
    assert lines["body"][2] == "2×4 | 1×4"
    assert lines["more"][2:] == ["1×4", "20", "20", "32", "1", "b"]
    assert "Cases: a infer: 96 FLOPs, 48 B of activations; b train: 80 FLOPs, " in str(table)
    assert "\nFLOPs: " not in str(table)  # of which case?
    rows = {row["name"]: row for row in table.rows}
    assert rows["body"]["by_case"]["train"]["outputs"] == {"output": (1, 4)}
    assert rows["more"]["by_case"].keys() == {"train"}


def test_text_formats_say_which_cases_have_a_box() -> None:
    text = modeldiagrams.to_mermaid(several(), depth=1)
    assert 'tanh("tanh: only in train")' in text
    assert 'body["body: Linear"]' in text


def test_text_alternative_tells_cases_and_what_they_lack() -> None:
    said = describe_picture(drawn(several()))
    assert f"Cases: infer, train. 1 input {NOWHERE}, 2 parts only in train, 1 part {NOWHERE}." in said


def test_coverage_is_over_all_cases_and_without_forced_sides() -> None:
    text = str(modeldiagrams.summary(several()))
    assert "Ways: infer and train took 1 of 2 ways; not taken: if mask is not None" in text
