"""The records of a pass: values, their memory, their names, and lines of source."""
