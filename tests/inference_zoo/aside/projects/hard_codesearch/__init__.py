"""Search for code by what it does: a paper's repository with its script, a checkpoint's config.json and the data flow."""

__all__ = ["model.CodeSearcher"]
