"""Edges between leaf modules against an independent witness: autograd.

The witness runs the plain model and clones what every leaf module returns; from what a leaf module made it walks the
autograd graph back to the nearest clones. Both must tell the same.
"""

import pytest
import torch
from torch import nn

from modeldiagrams.graph import ModuleNode
from modeldiagrams.tracer import trace
from modeldiagrams.tracer.walk import find_tensors, substitute
from tracer import architectures
from tracer.seen import Seen
from tracer.test_graph_contents import Stack

MODELS = {
    "transformer": lambda: (
        nn.Transformer(8, 2, 2, 2, 16, batch_first=True),
        {"src": torch.randn(1, 5, 8), "tgt": torch.randn(1, 4, 8)},
    ),
    "stack": lambda: (Stack(), {"given": torch.randn(3, 4)}),
    **{
        name: lambda name=name: architectures.small(name)
        for name in (
            "Bert",
            "GPT2",
            "Llama",
            "T5",
            "Bart",
            "Mixtral",
            "Mamba",
            "ViT",
            "Swin",
            "ResNet",
            "MobileViT",
            "Whisper",
        )
    },
}


def is_leaf(module):
    return next(module.children(), None) is None


class Witness:
    """Edges between leaf module calls, by autograd."""

    def __init__(self, model):
        self.edges = set()
        self._names = {module: name for name, module in reversed(list(model.named_modules()))}
        self._counts = {}
        self._clones = {}
        for module in self._names:
            if is_leaf(module):
                module.register_forward_hook(self._after)

    def _after(self, module, _args, output):
        n = self._counts[module] = self._counts.get(module, 0) + 1
        call = self._names[module] if n == 1 else f"{self._names[module]}#{n}"
        for _, tensor in find_tensors(output):
            self.edges |= {(source, call) for source in self._sources(tensor.grad_fn)}

        def clone(tensor):
            if tensor.grad_fn is None:
                return tensor
            cloned = tensor.clone()
            self._clones[cloned.grad_fn] = call
            return cloned

        return substitute(output, clone)

    def _sources(self, function):
        pending, passed, found = [function], set(), set()
        while pending:
            function = pending.pop()
            if function is None or function in passed:
                continue
            passed.add(function)
            if function in self._clones:
                found.add(self._clones[function])
            else:
                pending += [following for following, _ in function.next_functions]
        return found


def traced_edges(graph, leaves):
    """The same edges as the graph has them: from leaf call to leaf call through ops that are in none.

    Only along values that carry a gradient: indices do not.
    """

    def following(node):
        edges = graph.adjacency.get(node, ())
        return [e.to for e in edges if e.flow == "data" and "float" in graph.tensors[e.tensor].dtype]

    found = set()
    for source in leaves:
        inside = {node for node, holder in graph.hierarchy.items() if holder == source}
        pending = [target for node in inside for target in following(node)]
        passed = set(inside)
        while pending:
            node = pending.pop()
            if node in passed:
                continue
            passed.add(node)
            holder = graph.hierarchy[node]
            if holder in leaves:
                found.add((source, holder))
            else:
                pending += following(node)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_edges_as_autograd_sees_them(name):
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    model.eval().requires_grad_(True)
    for value in inputs.values():
        if value.is_floating_point():
            value.requires_grad_()
    graph = trace(model, (), inputs, mode="real")
    witness = Witness(model)
    model(**inputs)
    modules = dict(model.named_modules())
    leaves = {node.id for node in Seen(graph).of(ModuleNode) if is_leaf(modules.get(node.path, model))}
    # what is computed without gradient (rotary embeddings) autograd does not see
    seen_by_autograd = {*witness._clones.values()}
    traced = {edge for edge in traced_edges(graph, leaves) if edge[0] in seen_by_autograd}
    assert len(witness.edges) >= 3
    both = len(traced & witness.edges)
    assert both / len(witness.edges) >= 0.99, witness.edges - traced
    assert both / len(traced) >= 0.99, traced - witness.edges
