"""A paper's search for code: a script with arguments, the config.json of a checkpoint, data flow."""

__all__ = ["model.CodeSearcher"]
