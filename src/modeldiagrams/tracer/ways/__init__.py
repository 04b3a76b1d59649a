"""Finds the ways through a model's code: which sides of its branches a pass took. Imports no torch.

`syntax` finds the branches of a function, `observer` notes which of its code runs, `judging` decides whether a side
runs tensors or modules, `waiting` what decides between sides, and `finding` puts it together.
"""
