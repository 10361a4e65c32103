"""Files that travel with the package."""
