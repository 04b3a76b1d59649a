"""All models with known sizes."""

from __future__ import annotations

import transformers  # before torchvision, which is for another build of torch here

from named_sizes import other_bases  # noqa: F401 - it imports the others, and all add theirs
from named_sizes.known import MODELS

__all__ = ["MODELS"]

transformers.logging.set_verbosity_error()
