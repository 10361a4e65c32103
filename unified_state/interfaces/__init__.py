"""Who calls us. The modules in this folder are named in clients' settings: they keep their names."""
