"""Watching a model while it trains: recordings of its activations, gradients, parameters and updates.

`file` writes and reads recordings and needs no torch; `recording` offers what is in one; `recorder` measures a model.
The room isn't called ``watch``, because `modeldiagrams.watch` is the function that starts it all.
"""
