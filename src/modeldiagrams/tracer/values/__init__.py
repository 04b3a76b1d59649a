"""What a pass leaves: records of ops and calls, the values of tensors, their names, and source lines."""
