"""The ledger: decisions, constraints, questions, evidence and attempts, with their sources."""
