"""What a text names, and what the files of build tools declare."""
