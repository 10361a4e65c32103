"""The fourth migration of the archive: what tells that the table of enforced constraints is as the ledger is."""

from __future__ import annotations

# A constraint that comes, goes or changes, by whatever way, takes the stamp away; who compiles the table anew sets one,
# which stands in the table too. Empty: there is no table, and none is needed.
ENFORCEMENT = """
CREATE TABLE enforcement (
    changed INTEGER NOT NULL,     -- how often a constraint changed
    stamp TEXT                    -- of the table that was compiled since
);
INSERT INTO enforcement VALUES (0, '');

CREATE TRIGGER constraint_added AFTER INSERT ON item WHEN new.kind = 'constraint'
BEGIN UPDATE enforcement SET changed = changed + 1, stamp = NULL; END;

CREATE TRIGGER constraint_changed AFTER UPDATE OF body, status, origin, alias ON item WHEN new.kind = 'constraint'
BEGIN UPDATE enforcement SET changed = changed + 1, stamp = NULL; END;

CREATE TRIGGER constraint_removed AFTER DELETE ON item WHEN old.kind = 'constraint'
BEGIN UPDATE enforcement SET changed = changed + 1, stamp = NULL; END;
"""
