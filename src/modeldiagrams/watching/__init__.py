"""Watching a model while it trains: recordings of its activations, gradients, parameters and updates.

`file` writes and reads recordings and needs no torch, `recording` gives access to their content, and `recorder`
measures a model. The package isn't called ``watch``, because `modeldiagrams.watch` is a function.
"""
