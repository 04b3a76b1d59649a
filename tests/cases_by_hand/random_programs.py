"""Models that run random programs, and cases that run parts of the same program: where a person would not look."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import nn

from cases_by_hand.dynamic import Dynamic

Program = list[tuple[Any, ...]]
"""Steps: (an op,), ("module", number), ("block", number, program), ("helper", program), ("skip",), ("weight",)."""


class Interpreter(nn.Module):
    def __init__(self, deep=2):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        self.weight = nn.Parameter(torch.ones(4))
        self.blocks = nn.ModuleList(Interpreter(deep - 1) for _ in range(2 if deep else 0))

    def forward(self, x, program):
        kept = [x]
        for step in program:
            match step:
                case ("relu",):
                    x = torch.relu(x)
                case ("tanh",):
                    x = torch.tanh(x)
                case ("twice",):
                    x = x * 2
                    x = torch.relu(x)
                case ("module", number):
                    x = self.parts[number](x)
                case ("block", number, inner):
                    x = self.blocks[number](x, inner)
                case ("helper", inner):
                    x = self.helper(x, inner)
                case ("skip",):
                    x = x + kept[len(kept) // 2]
                case ("weight",):
                    x = x * self.weight
            kept.append(x)
        return x

    def helper(self, x, program):
        x = x - x.mean()
        x = Interpreter.forward(self, x, program)
        return x + 1


def random_program(chance: random.Random, length: int, depth: int) -> Program:
    plain: Program = [("relu",), ("tanh",), ("twice",), ("skip",), ("weight",)]
    program: Program = []
    for _ in range(length):
        kind = chance.random()
        if kind < 0.5 or not depth:
            program.append(chance.choice(plain))
        elif kind < 0.7:
            program.append(("module", chance.randrange(3)))
        elif kind < 0.85:
            program.append(("block", chance.randrange(2), random_program(chance, length // 2, depth - 1)))
        else:
            program.append(("helper", random_program(chance, length // 3, 0)))
    return program


def part_of(program: Program, chance: random.Random) -> Program:
    """The program with some steps left out, and the same in what is inside; rarely a step more."""
    left: Program = []
    for step in program:
        if chance.random() < 0.2:
            continue
        inner = [part_of(value, chance) if isinstance(value, list) else value for value in step]
        left.append(tuple(inner))
        if chance.random() < 0.05:
            left.append(("tanh",))
    return left


def random_model(seed: int, count: int = 3, length: int = 10) -> Dynamic:
    chance = random.Random(seed)  # noqa: S311
    whole = random_program(chance, length, 2)
    programs = [whole, *(part_of(whole, chance) for _ in range(count - 1))]
    return Dynamic(
        f"random {seed}",
        Interpreter,
        lambda _: {f"case {n}": {"args": (torch.ones(2, 4), program)} for n, program in enumerate(programs)},
    )
