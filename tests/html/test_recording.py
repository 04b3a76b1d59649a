"""What a page says of a training to readers without scripts, and on paper."""

from __future__ import annotations

from browser.pages import encoder
from modeldiagrams import Recording
from modeldiagrams.api.export import draw_diagram
from modeldiagrams.html.fragment import render_fragment
from modeldiagrams.watching.file.records import Anomaly, Key, Loss, Moment, Row, Run
from modeldiagrams.watching.page import build_page_recording

GRAPH = encoder(layers=1)


def page(rows, **parts):
    moments = [Moment(step=10 * i, rows=at) for i, at in enumerate(rows)]
    found = Recording([Run(step=0)], moments, **parts)
    reduced = build_page_recording(found, "<run>.mdwatch", [node.id for node in GRAPH.nodes])
    return render_fragment(draw_diagram(GRAPH, {}, None, [reduced]), assets="")


def test_page_has_findings_and_the_last_loss():
    row = Row(count=100, norm=20.0, mean=-0.5, min=-3.0, bad=7, dead=1, units=4)
    found = [Anomaly(step=10, kind="failure", node="embed", what="activation", text="embed <is> dead")]
    html = page([{}, {Key("embed", "activation"): row}], losses=[Loss(10, 0.25)], noticed=found)
    assert "Step 10, <code>embed</code>: embed &lt;is&gt; dead" in html
    assert "&lt;run&gt;.mdwatch" in html
    assert "<run>" not in html
    assert "Step 10, loss 0.25." in html


def test_pages_without_a_training_do_not_mention_one():
    html = render_fragment(draw_diagram(GRAPH, {}), assets="")
    assert "recorded-run" not in html
    assert "recording=" not in html
