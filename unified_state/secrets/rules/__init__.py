"""Recognition of secrets by their format, name, position and value."""
