"""All models with known sizes."""

from __future__ import annotations

import transformers  # before torchvision, which is for another build of torch here

from named_sizes import from_transformers, from_vision_libraries, own_images, own_others, own_sequences  # noqa: F401 - they add theirs
from named_sizes.known import MODELS

__all__ = ["MODELS"]

transformers.logging.set_verbosity_error()
