"""Pure rules of the ledger: binding items, contradictions, the text of items."""
