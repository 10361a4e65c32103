"""How full the model's window is, and conversations of the Messages API, whose old texts are cut and archived whole."""
