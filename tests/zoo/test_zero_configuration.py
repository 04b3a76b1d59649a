"""`transformers`' model classes, named and nothing else: how many give a connected data-flow diagram? Slow: `make zoo`.

All of them take about half an hour on two cores. Where that is too long, `MODELDIAGRAMS_ZOO_CLASSES=400` takes so many
in the order of a digest of their names, which is a random sample that is the same every time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from zoo.class_sweep import Row, names

NAMES = names()[: int(os.environ.get("MODELDIAGRAMS_ZOO_CLASSES", "1000000"))]
ENOUGH = 0.5
"""Of the names, those that must be of classes that can be built, for the share to mean something."""
SHARE = 0.9


@pytest.fixture(scope="module")
def rows():
    """What became of the classes."""
    command = [sys.executable, "-m", "zoo.class_sweep", str(len(NAMES))]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        command, cwd=Path(__file__).parents[1], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return sorted((Row(**row) for row in found if row), key=lambda row: (row.result, row.name))


def test_nine_of_ten_classes_of_transformers_need_no_option(rows, report, share):
    buildable = [row for row in rows if row.result != "not buildable"]
    connected = [row for row in buildable if row.result == "connected"]
    for row in rows:
        if row.result != "connected":
            report(f"{row.name:55}{row.result:15}{row.reason}")
    share(f"connected, of those of {len(rows)} classes that can be built", len(connected), len(buildable))
    report(f"by rule and mode: {dict(Counter((row.rule, row.mode) for row in connected))}")
    report(f"with fewer layers: {', '.join(row.name for row in connected if row.config != '{}') or 'none'}")
    slowest = sorted(connected, key=lambda row: -row.seconds)[:5]
    report(f"slowest, in seconds of a processor: {', '.join(f'{row.name} {row.seconds}' for row in slowest)}")
    assert len(buildable) >= ENOUGH * len(NAMES)
    assert len(connected) / len(buildable) >= SHARE
