"""Pure rules of the ledger: binding items, repetitions, the text of items."""
