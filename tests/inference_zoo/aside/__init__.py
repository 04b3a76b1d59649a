"""Models kept aside: written before the rules, and never looked at while they are tuned."""
