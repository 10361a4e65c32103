from __future__ import annotations

from unified_state.memory.archive.archive import Archive
from unified_state.memory.archive.full_text import Filters, those_passing
from unified_state.memory.archive.text_columns import forget_step
from unified_state.memory.archive.vector_table import (
    VectorCount,
    add_vectors,
    count_embeddable,
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


def test_all_versions_of_a_model_are_dropped_and_no_other_model(archive: Archive) -> None:
    add_steps(archive, "one", "two")
    for name, version in [("tiny", "1"), ("tiny", "2"), ("other", "1")]:
        number = model_number(archive, name, version, 4)
        add_vectors(archive, number, [(1, vector(1)), (2, vector(0, 1))])
    assert drop_vectors(archive, "tiny") == 4
    assert vector_counts(archive) == (VectorCount("other", "1", 2),)
    assert drop_vectors(archive, "tiny") == 0


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


def test_a_forgotten_step_counts_no_longer(archive: Archive) -> None:
    add_steps(archive, "one", "two")
    forget_step(archive, 1)
    assert count_embeddable(archive) == 1


def test_those_that_pass_the_filters_keep_their_order(archive: Archive) -> None:
    add_steps(archive, "one", "two", "see src/app.py", "four")
    assert those_passing(archive, [4, 1, 99, 2], Filters(kind="text")) == [4, 2]
    assert those_passing(archive, [4, 3], Filters(file="app.py")) == [3]
    forget_step(archive, 2)
    assert those_passing(archive, [2, 1], Filters()) == [1]
    assert those_passing(archive, [], Filters()) == []
