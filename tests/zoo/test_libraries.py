"""Classes and factories of timm and torchvision, named and nothing else: how many give a connected diagram?

All that torchvision exports; of timm all classes that it exports, and one factory of each module. Slow: `make zoo`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from zoo.class_sweep import Row

SHARES = {"timm": 0.95, "torchvision": 1.0}
"""Required of both kinds together; timm exports blocks and wrappers of models, too."""
FEWEST = 150


@pytest.mark.parametrize("library", SHARES)
def test_most_need_no_option(library, report, share):
    done = subprocess.run(
        [sys.executable, "-m", "zoo.class_sweep", str(10 * FEWEST), library],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    rows = [Row(**row) for row in map(json.loads, done.stdout.splitlines()) if row]
    for row in rows:
        if row.result != "connected":
            report(f"{row.name:55}{row.result:15}{row.reason}")
    connected = sum(row.result == "connected" for row in rows)
    share(f"of {library}, connected", connected, len(rows))
    assert len(rows) >= FEWEST
    assert connected >= SHARES[library] * len(rows)
