"""Capture: store new transcript steps in the archive, and record the facts that they show in the ledger."""
