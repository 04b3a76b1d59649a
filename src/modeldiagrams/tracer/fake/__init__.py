"""Runs a model without its weights and without arithmetic.

Torch's fake tensors, which have shape, dtype and device but no memory, replace weights and inputs. Python code still
asks for values (``if mask.all():``, ``range(lengths.max())``). `ConcreteValues` therefore also computes the real values
of small integer and boolean tensors; it guesses values that it can't know, and reports each guess.
"""
