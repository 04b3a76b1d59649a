"""A library for detection: sizes in a table, a factory, tests with fixtures, a README."""
