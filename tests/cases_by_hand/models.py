"""All dynamic models that have names."""

from __future__ import annotations

from cases_by_hand import hand_written_1, hand_written_2, transformers_cases, vision_cases

MODELS = tuple(
    model for module in (hand_written_1, hand_written_2, transformers_cases, vision_cases) for model in module.MODELS
)
