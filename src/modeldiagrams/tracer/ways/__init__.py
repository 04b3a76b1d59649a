"""Finds the ways through a model's code: which sides of its branches a pass took, and which modules it left out.

`syntax` finds the branches of a function, `observer` notes which of its code runs, `judging` decides whether a side
runs tensors or modules, `waiting` what decides between sides, `finding` puts it together. Only `uncalled` needs torch.
"""
