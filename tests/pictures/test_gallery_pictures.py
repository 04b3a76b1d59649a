"""Pictures of traced models have no overlaps, as the viewer's validator counts, and openings keep left and right."""

from __future__ import annotations

from pathlib import Path

import pytest

from pictures.validated import VITEST, check_pictures

SOME = ("unet", "searched")
"""Skips and cells; the zoo has all, and the viewer's own tests have rows, loops and towers."""

LOOPED = ("machine",)


@pytest.mark.skipif(not VITEST.is_file(), reason="the viewer's tools are not installed: `make test` does it")
def test_gallery_pictures(tmp_path: Path) -> None:
    check_pictures(tmp_path, SOME, LOOPED)
