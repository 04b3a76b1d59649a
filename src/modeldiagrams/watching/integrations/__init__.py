"""Watching from Lightning, transformers and Accelerate; what was recorded for TensorBoard and Weights & Biases.

Each has a module of its own, which needs that library.
"""
