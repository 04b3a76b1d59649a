"""Edits of models as people make them, with what a comparison has to say of each: the measure of `modeldiagrams.diff`.

`subject.py` holds a model that can be edited, `rewriting.py` edits the source of its classes; `modules.py`,
`layers.py`, `code.py` and `weights.py` are the kinds of edit; `judge.py` compares what was said with what was expected.
"""
