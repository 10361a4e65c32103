"""The ledger: decisions, constraints, questions, evidence, attempts, and where they come from."""
