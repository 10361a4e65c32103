"""The vectors of steps, one per step and model, for semantic search.

Vectors are computed outside the hooks, so any step may lack one. A stored vector has its model's dimensions and unit
length, and belongs to a step with text: it is deleted with that text (`text_columns`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unified_state.archive.archive import Archive
from unified_state.archive.steps import DATA_URL, find_step, readable
from unified_state.errors import UsageError
from unified_state.model.step import EMBEDDED_CHARACTERS

_LARGEST = (1 << 63) - 1


def model_number(archive: Archive, name: str, version: str, dimensions: int) -> int:
    """Return the number of a model in this archive, which is added if it is new. Raises UsageError for other
    dimensions.
    """
    insert = "INSERT INTO vector_model (name, version, dimensions) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
    archive.run(insert, name, version, dimensions)
    number, known = archive.row("SELECT id, dimensions FROM vector_model WHERE name = ? AND version = ?", name, version)
    if known != dimensions:
        message = f"the model {name} {version} gives {dimensions} dimensions, and its vectors in {archive.path} {known}"
        raise UsageError(message, "give another model another version")
    return int(number)


def find_model(archive: Archive, name: str, version: str) -> int | None:
    """Return the number of a model that has vectors here, or None."""
    has_vectors = "EXISTS (SELECT 1 FROM vector WHERE model = vector_model.id)"
    return archive.value(f"SELECT id FROM vector_model WHERE name = ? AND version = ? AND {has_vectors}", name, version)


def add_vectors(archive: Archive, model: int, vectors: Iterable[tuple[int, bytes]]) -> int:
    """Store the vectors of steps, and return the number of new ones.

    A step that has one keeps it. A step without text gets none, because it may have been forgotten since.
    """
    insert = (
        "INSERT INTO vector (step, model, embedding) SELECT id, ?, ? FROM step WHERE id = ? AND kind NOT NULL "
        "ON CONFLICT DO NOTHING"
    )
    return sum(archive.run(insert, model, embedding, step) for step, embedding in vectors)


def steps_without(archive: Archive, model: int, limit: int, before: int = _LARGEST) -> list[tuple[int, str]]:
    """Return the newest steps before a number that lack a vector, each with its text to embed, the newest first.

    For the next page, call it again with the number of the last one.
    """
    query = (
        "SELECT id FROM step WHERE kind NOT NULL AND id < ? AND NOT EXISTS "
        "(SELECT 1 FROM vector WHERE vector.step = step.id AND model = ?) ORDER BY id DESC LIMIT ?"
    )
    found: list[tuple[int, str]] = []
    while len(found) < limit:
        numbers = archive.column(query, before, model, limit - len(found))
        if not numbers:
            break
        before = numbers[-1]
        found += [(number, text) for number in numbers if (text := text_to_embed(archive, number))]
    return found


def text_to_embed(archive: Archive, step: int) -> str:
    """Return the start of a step's text, from which its vector is computed; "" for a forgotten step and an image."""
    found = find_step(archive, step)
    text = readable(found)[:EMBEDDED_CHARACTERS] if found else ""
    return text if text.strip() and not text.startswith(DATA_URL) else ""


def read_vectors(archive: Archive, model: int, steps: Sequence[int]) -> dict[int, bytes]:
    """Return the vectors of those steps that have one."""
    chosen = f"step IN ({', '.join(map(str, steps))}) AND model = ?"
    return dict(archive.rows(f"SELECT step, embedding FROM vector WHERE {chosen}", model))


def vectors_after(archive: Archive, model: int, last: int, limit: int) -> list[tuple[int, int, bytes]]:
    """Return the vectors added after a number, in order: the vector's own number, its step, and the vector."""
    query = "SELECT id, step, embedding FROM vector WHERE id > ? AND model = ? ORDER BY id LIMIT ?"
    return archive.rows(query, last, model, limit)


def count_vectors(archive: Archive, model: int) -> int:
    """Return the number of steps that have a vector of the model."""
    return int(archive.row("SELECT count(*) FROM vector WHERE model = ?", model)[0])


def count_embeddable(archive: Archive) -> int:
    """Return the number of steps with text."""
    return int(archive.row("SELECT count(*) FROM step WHERE kind NOT NULL")[0])


def drop_vectors(archive: Archive, name: str, *, but: int = 0) -> int:
    """Delete the vectors of all versions of a model except one, and return their number."""
    models = "SELECT id FROM vector_model WHERE name = ? AND id != ?"
    return archive.run(f"DELETE FROM vector WHERE model IN ({models})", name, but)
