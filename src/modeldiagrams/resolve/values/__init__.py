"""What authors write as options → objects, tensors and models."""
