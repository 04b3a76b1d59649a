"""Facts about torch's functions: names, arguments, costs."""
