"""Inputs that hold others of their kind, through which code goes until there are none: trees, lists in lists."""

from __future__ import annotations

import torch
from torch import nn

from modeldiagrams.options.parsing import parse_options
from modeldiagrams.target import resolve
from modeldiagrams.target.inference import input_solver
from modeldiagrams.target.inference.endured import each_of
from modeldiagrams.target.inference.input_solver import InputSolver
from modeldiagrams.target.inference.probing import Probe
from target.found_inputs import first_entries, found


class Clause:
    def __init__(self, word=None, clauses=()):
        self.word, self.clauses, self.memory = word, [*clauses], None

    @property
    def is_leaf(self):
        return not self.clauses


class Composer(nn.Module):
    """What a node is made of is kept in it, for the node above."""

    def __init__(self):
        super().__init__()
        self.words, self.mix, self.gates = nn.Embedding(50, 6), nn.Linear(6, 6), nn.Linear(6, 12)

    def visit(self, clause, words):
        for part in clause.clauses:
            self.visit(part, words)
        if clause.is_leaf:
            state = words[clause.word].unsqueeze(0)
        else:
            state = torch.cat([part.memory for part in clause.clauses]).sum(0, keepdim=True)
        gate, value = torch.split(self.gates(state), 6, dim=1)
        clause.memory = self.mix(gate.sigmoid() * value)

    def forward(self, root, sentence):
        self.visit(root, self.words(sentence))
        return root.memory


def test_a_tree_is_made_of_the_class_that_has_what_is_read_of_it():
    entries = first_entries(Composer())
    assert Probe(Composer().eval()).run(entries).error is None
    root = entries["root"]
    assert root.keys() == {"_target_", "clauses"}
    assert root["_target_"] == f"{__name__}.Clause"
    leaf = root["clauses"][1]["clauses"][0]
    assert leaf == {"_target_": f"{__name__}.Clause", "word": {"shape": [], "dtype": "int64", "high": 4}}
    assert len(entries["sentence"]["shape"]) == 1


class Pairs(nn.Module):
    """Nodes of no class that have two others or none."""

    def __init__(self):
        super().__init__()
        self.leaf, self.both = nn.Linear(5, 8), nn.Linear(8, 8)

    def encode(self, node):
        state = self.leaf(node.features)
        for other in (node.left, node.right):
            if other is not None:
                state = state + self.both(self.encode(other))
        return state

    def forward(self, tree):
        return self.encode(tree)


def test_branches_end_with_none():
    entry = found(Pairs)["tree"]
    assert entry["left"]["left"]["left"] == entry["right"]["right"]["right"] == {"value": None}
    assert entry["left"]["left"]["features"][-1] == 5


class Bracketed(nn.Module):
    """Dicts in lists of dicts."""

    def __init__(self):
        super().__init__()
        self.leaf = nn.Linear(5, 8)

    def encode(self, node):
        return self.leaf(node["features"]) + sum(self.encode(part) for part in node["parts"])

    def forward(self, tree):
        return self.encode(tree)


def test_lists_end_without_items():
    entry = found(Bracketed)["tree"]
    assert [*map(len, (entry["parts"], entry["parts"][0]["parts"]))] == [2, 2]
    assert entry["parts"][0]["parts"][1]["parts"] == {"value": []}


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.leaf = nn.Linear(5, 8)

    def encode(self, node):
        return self.leaf(node) if torch.is_tensor(node) else torch.cat([self.encode(part) for part in node])

    def forward(self, lists):
        return sum((self.visit(part) for part in lists), torch.zeros(()))

    def visit(self, part):
        return sum(map(self.visit, part))


def test_lists_in_lists_have_an_end():
    assert InputSolver(Nested().eval())._seeds().__next__()


def test_what_a_reading_raises_costs_the_reading(monkeypatch, errors_of_ours):
    errors_of_ours.append("reading its forward: RecursionError")

    def endless(*_):
        return endless()

    monkeypatch.setattr(input_solver.Probe, "read", endless)
    target = resolve(parse_options({"model": "torch.nn.Linear", "args": [4, 5]}).call)
    assert target.args or target.kwargs
    assert not target.note


def test_items_that_are_nothing_end_no_source(errors_of_ours):
    errors_of_ours.append("a source of arguments: ZeroDivisionError")
    assert [*each_of(1 // n if n != 2 else None for n in (1, 2, 1, 0, 1))] == [1, None, 1]
