"""The rules of capture: what a step shows for certain, or is likely to show, one small rule a file."""
