"""Pictures of a graph in many states, each judged by the oracle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from modeldiagrams.ir.graph import Graph
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.options import View
from modeldiagrams.overlay.overlay import Overlay
from modeldiagrams.render.draw import Authored, render_json
from modeldiagrams.render.draw import Picture as Rendered
from truth.drawn import runs
from truth.oracle import Picture, Trace, Verdict, judge

State = dict[str, Any]


@dataclass
class Judged:
    """A picture in one state."""

    name: str
    state: State
    verdict: Verdict


class Sweep:
    """The states of a graph: at first, at every depth, with bundles; rolled and unrolled, with and without plumbing.

    Args:
        graph: The graph.
        quick: Whether only the first picture and all open are looked at.
        overlay: What an author says about nodes.
    """

    def __init__(self, graph: Graph, *, quick: bool = False, overlay: Overlay | None = None):
        self._json = serialize(graph)
        self._said = Authored(overlay=overlay.to_json()) if overlay else None
        self._groups: list[State] = json.loads(overlay.to_json()).get("groups", []) if overlay else []
        self._functions = sorted([*graph.functions, *(group["id"] for group in self._groups)])
        self.trace = Trace(json.loads(self._json), (), self._groups)
        self._drawn: dict[str, Rendered] = {}
        self._quick = quick

    def draw(self, state: State | None = None, **view: Any) -> Rendered:
        """The picture of a state or, without one, of options."""
        key = json.dumps([state, view], sort_keys=True)
        if key not in self._drawn:
            self._drawn[key] = render_json(self._json, View(**view), state=state, beside=self._said)
        return self._drawn[key]

    def judged(self) -> Iterator[Judged]:
        """All states."""
        opened = {plumbing: self._opened(plumbing) for plumbing in (False, True)}
        traces = {plumbing: self._trace_shown_in(picture) for plumbing, picture in opened.items()}
        hidden = {plumbing: _hidden(traces[plumbing], picture) for plumbing, picture in opened.items()}
        for name, state in self._states():
            rendered = self.draw(state)
            plumbing = bool(state.get("plumbing"))
            picture = Picture(traces[plumbing], rendered.svg, rendered.rolled, rendered.bundled)
            verdict = judge(picture, hidden[plumbing], shapes=plumbing)
            if plumbing and hidden[True]:
                verdict.drawn.append(f"not even shown with plumbing: {sorted(hidden[True])[:5]}")
            yield Judged(name, state, verdict)

    def untrue(self) -> list[str]:
        """What is untrue in any state, in words; the states that are alike only once."""
        found: dict[str, str] = {}
        for judged in self.judged():
            if judged.verdict:
                found.setdefault(str(judged.verdict), judged.name)
        return [f"{name}: {text[:3000]}" for text, name in found.items()]

    def _states(self) -> Iterator[tuple[str, State]]:
        deepest = max((len(self.trace.inwards(name)) for name in self.trace.nodes), default=1)
        shown = {"default": self.draw().state}
        depths = (deepest,) if self._quick else range(deepest + 1)
        shown |= {f"depth {depth}": self.draw(depth=depth).state for depth in depths}
        if not self._quick:
            shown["left to right"] = self.draw(depth=deepest, direction="LR").state
        if self._functions:
            everything = [*shown[f"depth {deepest}"]["expanded"], *self._functions]
            shown["functions open"] = {**shown[f"depth {deepest}"], "expanded": sorted(everything)}
        bundled = {**shown[f"depth {deepest}"], "most": 4, "ends": 2}
        shown["bundled"] = bundled
        opened = {*bundled["expanded"], *self.draw(bundled).bundled}
        shown["bundled, all open"] = {**bundled, "expanded": sorted(opened)}
        for name, state in shown.items():
            for plumbing in (False, True):
                rolled = {**state, "plumbing": plumbing}
                yield f"{name}{' with plumbing' * plumbing}", rolled
                unrolled = self._unrolled(rolled)
                if unrolled != rolled:
                    yield f"{name}{' with plumbing' * plumbing}, unrolled", unrolled

    def _unrolled(self, state: State) -> State:
        while True:
            found = sorted(runs(self.draw(state).svg) | {*state["unrolled"]})
            if found == state["unrolled"]:
                return state
            state = {**state, "unrolled": found}

    def _opened(self, plumbing: bool) -> Rendered:
        """The picture with all open."""
        modules = [name for name, node in self.trace.nodes.items() if node["kind"] == "module"]
        opened = {"expanded": modules + self._functions, "unrolled": [], "direction": "TB"}
        opened |= {"plumbing": plumbing, "layers": False}
        return self.draw(self._unrolled(opened))

    def _trace_shown_in(self, rendered: Rendered) -> Trace:
        """The trace with the calls of functions that have a box in a picture with all open."""
        boxes = Picture(self.trace, rendered.svg, rendered.rolled).drawn.boxes
        return Trace(json.loads(self._json), [name for name in self._functions if name in boxes], self._groups)


def _hidden(trace: Trace, rendered: Rendered) -> set[str]:
    """Nodes without a box even in a picture with all open."""
    return Picture(trace, rendered.svg, rendered.rolled).hidden()
