"""What a step shows for certain: one rule a file."""
