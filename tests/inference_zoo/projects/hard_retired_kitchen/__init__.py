"""Cooking: what hands do in videos (settings in YAML, a registry) and which recipe a picture shows (argparse)."""

__all__ = ["models.recipe.JointEmbedding", "models.slowfast.SlowFast"]
