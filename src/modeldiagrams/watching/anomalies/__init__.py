"""What went wrong in a training, told from its recording."""
