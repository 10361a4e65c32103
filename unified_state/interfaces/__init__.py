"""Who calls us: hooks, the command line. They parse and print, nothing else."""
