"""The vectors of steps, one a step and model, for a search by meaning.

They are made away from the hooks, so any step may be without one. What is stored is whole: of its model's dimensions,
of unit length, and of a step whose text is still there. A vector goes with its step's text (see `write_steps`).
"""

from __future__ import annotations

from operator import mul
from struct import Struct
from zlib import crc32

from unified_state.errors import UsageError
from unified_state.lib.record import Record
from unified_state.memory.archive.steps import DATA_URL, find_step, readable
from unified_state.model.step import EMBEDDED_CHARACTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unified_state.memory.archive.archive import Archive


_NUMBER = 2  # bytes of a float16
_TOLERANCE = 0.02  # of the square of the length: what rounding to float16 can do is a tenth of it
_LARGEST = (1 << 63) - 1


class Last(Record):
    """The last vector that was read, by its own number, and what tells it from another one that gets its number, as in
    an archive that came back from a backup.
    """

    number: int
    mark: int


class VectorModel(Record):
    """A model as the archive knows it. Its stamp changes whenever one of its vectors is taken away or changed."""

    number: int
    dimensions: int
    stamp: str


def model_number(archive: Archive, name: str, version: str, dimensions: int) -> int:
    """The number of a model in this archive, which from now on knows it. Call it outside of transactions too."""
    archive.run(
        "INSERT INTO vector_model (name, version, dimensions) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        name,
        version,
        dimensions,
    )
    number, known = archive.row("SELECT id, dimensions FROM vector_model WHERE name = ? AND version = ?", name, version)
    if known != dimensions:
        message = f"the model {name} {version} gives {dimensions} dimensions, and its vectors in {archive.path} {known}"
        raise UsageError(message, "give another model another version")
    return int(number)


def add_vectors(archive: Archive, model: int, vectors: Iterable[tuple[int, bytes]]) -> int:
    """Store the vectors of steps; how many were new. A step that has one keeps it, and one without text gets none: it
    may have been forgotten while its vector was made. Raises UsageError for what is no unit vector of the model.
    """
    numbers = Struct(f"<{read_model(archive, model).dimensions}e")
    added = 0
    for step, embedding in vectors:
        _check(step, embedding, numbers)
        added += archive.run(
            "INSERT INTO vector (step, model, embedding) SELECT id, ?, ? FROM step WHERE id = ? AND kind NOT NULL "
            "ON CONFLICT DO NOTHING",
            model,
            embedding,
            step,
        )
    return added


def read_model(archive: Archive, model: int) -> VectorModel:
    """A model by its number."""
    row = archive.row("SELECT id, dimensions, stamp FROM vector_model WHERE id = ?", model)
    if row is None:
        message = f"the archive {archive.path} knows no model {model}"
        raise UsageError(message, "`model_number` makes a model known")
    return VectorModel(*row)


def steps_without(archive: Archive, model: int, limit: int, before: int = _LARGEST) -> list[tuple[int, str]]:
    """The newest steps before a number that have no vector yet and a text to make it of, the newest first, each with
    that. Whoever goes through all of them asks on before the last one.
    """
    found: list[tuple[int, str]] = []
    while len(found) < limit:
        rows = archive.rows(
            "SELECT id FROM step WHERE kind NOT NULL AND id < ? AND NOT EXISTS "
            "(SELECT 1 FROM vector WHERE vector.step = step.id AND model = ?) ORDER BY id DESC LIMIT ?",
            before,
            model,
            limit - len(found),
        )
        if not rows:
            break
        before = rows[-1][0]
        texts = ((number, text_to_embed(archive, number)) for (number,) in rows)
        found += [(number, text) for number, text in texts if text]
    return found


def text_to_embed(archive: Archive, step: int) -> str:
    """What of a step's text its vector is made of: as much as is ever looked at, of megabytes. Nothing of one that was
    forgotten, nor of an image, as in the index of full text.
    """
    found = find_step(archive, step)
    text = readable(found)[:EMBEDDED_CHARACTERS] if found else ""
    return text if text.strip() and not text.startswith(DATA_URL) else ""


def read_vectors(archive: Archive, model: int, steps: Sequence[int]) -> dict[int, bytes]:
    """The vectors of those of the steps that have one."""
    return dict(
        archive.rows(
            f"SELECT step, embedding FROM vector WHERE step IN ({', '.join(map(str, steps))}) AND model = ?", model
        )
    )


def vectors_at(archive: Archive, model: int, numbers: Sequence[int]) -> list[tuple[int, int, bytes]]:
    """Those of some vectors that there are, by their own numbers; each as in `vectors_after`."""
    return archive.rows(
        f"SELECT id, step, embedding FROM vector WHERE id IN ({', '.join(map(str, numbers))}) AND model = ?", model
    )


def vectors_after(archive: Archive, model: int, last: int, limit: int) -> list[tuple[int, int, bytes]]:
    """What was added behind a number, in order: the vector's own number, its step, and the vector."""
    return archive.rows(
        "SELECT id, step, embedding FROM vector WHERE id > ? AND model = ? ORDER BY id LIMIT ?", last, model, limit
    )


def last_vector(archive: Archive, model: int, number: int) -> Last:
    """The vector of a number as the last one that was read."""
    found = vectors_at(archive, model, [number])
    return Last(number, crc32(b"".join(b"%d %b" % (step, embedding) for _, step, embedding in found)))


def count_vectors(archive: Archive, model: int) -> int:
    """How many steps have a vector of the model."""
    return int(archive.row("SELECT count(*) FROM vector WHERE model = ?", model)[0])


def _check(step: int, embedding: bytes, numbers: Struct) -> None:
    if len(embedding) != numbers.size:
        message = (
            f"the vector of step S{step} has {len(embedding) // _NUMBER} dimensions, not {numbers.size // _NUMBER}"
        )
        raise UsageError(message, "give float16 numbers, as many as the model has dimensions")
    values = numbers.unpack(embedding)
    length = sum(map(mul, values, values))
    if not abs(length - 1) < _TOLERANCE:  # so that NaN is none either
        message = f"the vector of step S{step} is not of unit length: its square is {length:.4g}"
        raise UsageError(message, "divide it by its length; a text without any meaning gets no vector")


_REMOVED_AT_ONCE = 2_000
# Read from the index of steps and models alone: to look through the vectors themselves takes seconds.
_OF_OTHER_VERSIONS = """
SELECT step, id FROM vector WHERE step >= ?2 AND model IN (
    SELECT other.id FROM vector_model AS other JOIN vector_model AS this ON this.name = other.name
    WHERE this.id = ?1 AND other.id <> ?1
) ORDER BY step LIMIT ?3
"""
_OF_MODEL = """
SELECT step, id FROM vector WHERE step >= ?2 AND model IN (SELECT id FROM vector_model WHERE name = ?1)
ORDER BY step LIMIT ?3
"""


class VectorCount(Record):
    """How many steps have a vector of a model, in one version of it."""

    model: str
    version: str
    steps: int


def full_name(name: str, version: str) -> str:
    """What a store that knows no versions calls a model: vectors of two versions are never compared."""
    return f"{name} {version}"


def find_model(archive: Archive, name: str, version: str) -> int | None:
    """The number of a model whose vectors lie here; None where there is none of them."""
    row = archive.row(
        "SELECT id FROM vector_model WHERE name = ? AND version = ? "
        "AND EXISTS (SELECT 1 FROM vector WHERE model = vector_model.id)",
        name,
        version,
    )
    return None if row is None else int(row[0])


def vector_counts(archive: Archive) -> tuple[VectorCount, ...]:
    """How many vectors there are of each model."""
    rows = archive.rows(
        "SELECT name, version, count(*) FROM vector JOIN vector_model ON vector_model.id = model GROUP BY model"
    )
    return tuple(VectorCount(name, version, count) for name, version, count in rows)


def count_embeddable(archive: Archive) -> int:
    """How many steps there are whose text was not forgotten."""
    return int(archive.row("SELECT count(*) FROM step WHERE kind NOT NULL")[0])


def drop_other_versions(archive: Archive, model: int) -> None:
    """Remove the vectors of all other versions of a model."""
    _drop(archive, _OF_OTHER_VERSIONS, model)


def drop_model(archive: Archive, name: str) -> int:
    """Remove the vectors of a model, in all its versions; how many there were."""
    return _drop(archive, _OF_MODEL, name)


def _drop(archive: Archive, those: str, which: object) -> int:
    """Some at a time: a hook that writes meanwhile waits for these at most."""
    step = dropped = 0
    while rows := archive.rows(those, which, step, _REMOVED_AT_ONCE):
        step = rows[-1][0]
        dropped += archive.run(f"DELETE FROM vector WHERE id IN ({', '.join(str(number) for _, number in rows)})")
    return dropped
