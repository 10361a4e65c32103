"""The fourth migration of the archive: what parallel sessions do to the decisions and constraints of a repository.

The rows are written by triggers, so that nothing can change an item without one, in the same transaction. They hold no
text: what is told is read from the ledger at that moment.
"""

from __future__ import annotations

NEWS = """
CREATE TABLE news (               -- decisions and constraints that came into force, or ceased to hold, in order
    id INTEGER PRIMARY KEY,
    item TEXT NOT NULL,           -- UUID
    session_id TEXT,              -- whose doing it was, as far as that is known; NULL: the user's own terminal
    is_active INTEGER NOT NULL    -- whether the item holds since then
);

CREATE TRIGGER item_recorded AFTER INSERT ON item
WHEN new.kind IN ('decision', 'constraint') AND new.status = 'active'
BEGIN INSERT INTO news (item, session_id, is_active) VALUES (new.uuid, new.session_id, 1); END;

CREATE TRIGGER item_changed AFTER UPDATE OF status ON item
WHEN new.kind IN ('decision', 'constraint') AND (new.status = 'active') != (old.status = 'active')
BEGIN INSERT INTO news (item, session_id, is_active) VALUES (new.uuid,
(SELECT session_id FROM item WHERE uuid = new.superseded_by), new.status = 'active'); END;

-- The newest that a session knows. NULL: it is older than this table, and counts from its next start on.
ALTER TABLE session ADD COLUMN news INTEGER;
"""
