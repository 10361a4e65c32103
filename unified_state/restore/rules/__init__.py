"""What of the known is worth telling, and in which words."""
