"""Ways are the same in each version of Python, whose interpreters report what runs in different ways."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("plain_models.py")
PYENV = Path.home() / ".pyenv" / "versions"
INTERPRETERS = [
    sys.executable,
    *sorted(str(path) for path in PYENV.glob("3.1[1-9]*/bin/python") if re.match(r"3\.1[1-9]", path.parts[-3])),
]
"""This one, and the others there are: they need no package."""

EXPECTED = [
    # read by hand: statement, condition, what it waits for, function, sides and whether they ran
    ["if", "mask is not None", "input", "Net.forward", {"yes": False}],
    ["if", "self.training and self.scale > 1", "mode", "Net.forward", {"yes": False}],
    ["expression", "self.scale > 1", "configuration", "Net.forward", {"yes": True, "no": False}],
    ["for", "self.layers", "configuration", "Net.forward", {"yes": False}],
    ["while", "y > 100", "value", "Net.forward", {"yes": False}],
    ["match", "colour", "input", "Net.forward", {"Colour.RED": True, "Colour.BLUE": False}],
    ["expression", "part.shape[0] > 5", "size", "Net.forward", {"yes": False, "no": True}],
    ["expression", "mask is None", "input", "Net.forward.<lambda>", {"yes": True, "no": False}],
    ["for", "range(3)", "other", "Net.items", {"yes": True}],
    ["if", "y.shape[1] == 3", "size", "Net.items", {"no": False}],
    ["for", "range(3)", "other", "Net.exits", {"yes": True}],
    ["if", "y > most", "value", "Net.exits", {"no": True}],
    ["if", "y > 0", "value", "Net.exits", {"no": False}],
    ["for", "range(most - 100)", "input", "Net.exits", {"yes": True}],
    ["if", "most == 102", "input", "Net.exits", {"no": False}],
    ["if", "y > 50", "value", "Net.early", {"no": True}],
    ["if", "self.other is not None", "configuration", "Net.early", {"yes": False, "no": True}],
    ["if", "self.scale == 3", "configuration", "Net.early", {"yes": False, "no": True}],
]


def run(interpreter: str, *arguments: str) -> Any:
    ran = subprocess.run([interpreter, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)
    assert not ran.returncode, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_ways_are_those_read_by_hand(interpreter: str) -> None:
    assert run(interpreter) == EXPECTED


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_debuggers_and_coverage_are_left_alone(interpreter: str) -> None:
    assert run(interpreter, "tool") == []
