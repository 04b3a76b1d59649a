"""Models kept aside: written without a look at the rules or at other models, and never looked at while rules are tuned.

What a person would call each with stands in `tests/zoo/aside_reference.toml`, which no search for evidence reads.
"""
