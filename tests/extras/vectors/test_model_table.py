from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.archive.vector_table import (
    VectorCount,
    add_vectors,
    drop_vectors,
    find_model,
    model_number,
    vector_counts,
)

from .test_vector_table import add_steps, vector
from .vector_archives import DIMENSIONS, fill, make_vectors


def test_a_model_without_vectors_is_none_to_search_by_and_asking_writes_nothing(archive: Archive) -> None:
    assert find_model(archive, "tiny", "1") is None
    model_number(archive, "tiny", "1", 4)
    assert find_model(archive, "tiny", "1") is None
    assert vector_counts(archive) == ()


def test_vectors_are_counted_for_each_version(archive: Archive) -> None:
    add_steps(archive, "one", "two")
    first, second = (model_number(archive, "tiny", version, 4) for version in "12")
    add_vectors(archive, first, [(1, vector(1)), (2, vector(0, 1))])
    add_vectors(archive, second, [(1, vector(1))])
    assert find_model(archive, "tiny", "2") == second
    assert vector_counts(archive) == (VectorCount("tiny", "1", 2), VectorCount("tiny", "2", 1))


def test_only_other_versions_of_the_same_model_are_dropped(archive: Archive) -> None:
    add_steps(archive, "one")
    names = [("tiny", "1"), ("tiny", "2"), ("other", "1")]
    for name, version in names:
        add_vectors(archive, model_number(archive, name, version, 4), [(1, vector(1))])
    drop_vectors(archive, "tiny", but=model_number(archive, "tiny", "2", 4))
    assert {(count.model, count.version) for count in vector_counts(archive)} == {("tiny", "2"), ("other", "1")}


def test_vectors_of_other_versions_go_some_at_a_time_so_that_no_hook_waits_for_all(archive: Archive) -> None:
    fill(archive, make_vectors(1_500))
    for version in "23":
        number = model_number(archive, "by chance", version, DIMENSIONS)
        archive.run(
            "INSERT INTO vector (step, model, embedding) SELECT step, ?, embedding FROM vector WHERE model = 1", number
        )
    traced: list[str] = []
    archive.connection.set_trace_callback(traced.append)
    drop_vectors(archive, "by chance", but=number)
    assert vector_counts(archive) == (VectorCount("by chance", "3", 1_500),)
    removed = dict.fromkeys(sql for sql in traced if sql.startswith("DELETE"))  # told anew behind each trigger
    assert [sql.count(",") + 1 for sql in removed] == [2_000, 1_000]
