"""The tables of the vectors of steps, which only a search by meaning needs.

Whatever takes a vector away or changes it renews its model's `stamp`: a file that was derived from the vectors carries
the stamp of then, and is worth nothing under another one.
"""

from __future__ import annotations

VECTORS = """
CREATE TABLE vector_model (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    stamp TEXT NOT NULL DEFAULT (hex(randomblob(16))),
    UNIQUE (name, version)
);

CREATE TABLE vector (
    id INTEGER PRIMARY KEY,       -- in the order in which they came: what is derived reads on from the last one
    step INTEGER NOT NULL REFERENCES step,
    model INTEGER NOT NULL REFERENCES vector_model,
    embedding BLOB NOT NULL,      -- of unit length, float16, little-endian
    UNIQUE (step, model)
);

CREATE TRIGGER vector_deleted AFTER DELETE ON vector
    BEGIN UPDATE vector_model SET stamp = hex(randomblob(16)) WHERE id = old.model; END;
CREATE TRIGGER vector_changed AFTER UPDATE ON vector
    BEGIN UPDATE vector_model SET stamp = hex(randomblob(16)) WHERE id = old.model; END;
"""
