"""The models one can choose with --model."""
