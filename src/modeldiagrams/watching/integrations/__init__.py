"""Watch models in Lightning, transformers and Accelerate; export recordings to TensorBoard and Weights & Biases.

Each library has its own module, which imports it.
"""
