from __future__ import annotations

from unified_state.archive.archive import Archive
from unified_state.extras.vectors.vector_table import add_vectors, drop_vectors, find_model, model_number
from unified_state.upkeep.doctor.project_status import vector_counts

from .test_vector_table import add_steps, vector


def test_a_model_without_vectors_is_none_to_search_by_and_asking_writes_nothing(archive: Archive) -> None:
    assert find_model(archive, "tiny", "1") is None
    model_number(archive, "tiny", "1", 4)
    assert find_model(archive, "tiny", "1") is None
    assert vector_counts(archive) == ()


def test_only_other_versions_of_the_same_model_are_dropped(archive: Archive) -> None:
    add_steps(archive, "one")
    names = [("tiny", "1"), ("tiny", "2"), ("other", "1")]
    for name, version in names:
        add_vectors(archive, model_number(archive, name, version, 4), [(1, vector(1))])
    drop_vectors(archive, "tiny", but=model_number(archive, "tiny", "2", 4))
    assert {(count.model, count.version) for count in vector_counts(archive)} == {("tiny", "2"), ("other", "1")}
