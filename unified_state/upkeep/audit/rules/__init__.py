"""Pure rules of the audit."""
