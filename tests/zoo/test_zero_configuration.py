"""`transformers`' model classes, named and nothing else: how many give a connected data-flow diagram? Slow: `make zoo`.

All of them take about half an hour. Where that is too long, they are taken in the order of a digest of their names,
which is a random sample that is the same every time, until the time is over.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from zoo.class_sweep import Row

pytestmark = pytest.mark.zoo

MINUTES = float(os.environ.get("MODELDIAGRAMS_ZOO_MINUTES", "40"))
"""For all classes."""
ENOUGH = 10 * MINUTES
"""Classes that must have been tried."""
SHARE = 0.9


@pytest.fixture(scope="module")
def rows():
    """What became of the classes that there was time for."""
    command = [sys.executable, "-m", "zoo.class_sweep", str(60 * MINUTES)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        command, cwd=Path(__file__).parents[1], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return sorted((Row(**row) for row in found if row), key=lambda row: (row.result, row.name))


def test_nine_of_ten_classes_of_transformers_need_no_option(rows, report):
    buildable = [row for row in rows if row.result != "not buildable"]
    connected = [row for row in buildable if row.result == "connected"]
    for row in rows:
        if row.result != "connected":
            report(f"{row.name:55}{row.result:15}{row.reason}")
    report(f"{len(connected)} of {len(buildable)} classes that can be built are connected, of {len(rows)}")
    report(f"by rule and mode: {dict(Counter((row.rule, row.mode) for row in connected))}")
    report(f"with fewer layers: {', '.join(row.name for row in connected if row.config != '{}') or 'none'}")
    slowest = sorted(connected, key=lambda row: -row.seconds)[:5]
    report(f"slowest, in seconds of a processor: {', '.join(f'{row.name} {row.seconds}' for row in slowest)}")
    assert len(buildable) >= ENOUGH
    assert len(connected) / len(buildable) >= SHARE
