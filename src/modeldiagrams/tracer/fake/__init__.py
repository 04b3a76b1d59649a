"""Running a model without its weights and without arithmetic.

Weights and inputs are replaced by torch's fake tensors: shape, dtype and device without memory. Ordinary Python asks
them for values all the same (``if mask.all():``, ``range(lengths.max())``), so `ConcreteValues` computes small integer
and boolean tensors for real beside the fake ones. What it can't know it guesses, and says so.
"""
