"""The table of steps whose content the user let go of, to have room. They were not forgotten: nobody else is told."""

from __future__ import annotations

PRUNED = """
CREATE TABLE pruned (             -- steps that keep their row without content, so that no transcript brings them back
    step INTEGER PRIMARY KEY REFERENCES step
);
"""
