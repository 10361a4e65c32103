"""Doctor and status: the state of the installation, its problems and their remedies."""
