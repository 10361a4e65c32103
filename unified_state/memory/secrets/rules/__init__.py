"""How secrets are recognised: formats, names, values."""
