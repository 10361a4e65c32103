"""Import and export of histories."""
