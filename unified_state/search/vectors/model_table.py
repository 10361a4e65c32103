"""The models whose vectors an archive holds. A search only asks; what it finds out changes nothing."""

from __future__ import annotations

from unified_state.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.memory.archive.archive import Archive

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
