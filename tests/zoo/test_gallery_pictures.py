"""Pictures of all models of the gallery have no overlaps, and openings keep left and right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallery_models import MODELS
from pictures.validated import check_pictures

if TYPE_CHECKING:
    from pathlib import Path


def test_gallery_pictures(tmp_path: Path) -> None:
    check_pictures(tmp_path, MODELS)
