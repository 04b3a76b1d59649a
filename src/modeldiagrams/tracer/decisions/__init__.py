"""Passes that take the other side where a tensor's value decided.

`Decisions` notes each decision of a pass, and gives another answer where it is told to. `explore` runs such
passes; a graph of them is no graph of what the model does with its inputs, so its case says `forced`.
"""
