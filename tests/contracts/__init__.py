"""The numbered contracts of a store of history, for our tiers and for anybody's.

    from tests.contracts import CONTRACTS
    for contract in CONTRACTS:
        contract.check(open_store)

`open_store(project)` opens a store of that project, always on the same place, which must be empty before each contract.
A contract that is broken raises AssertionError with what was expected. No test framework is needed.
"""

from __future__ import annotations

from tests.contracts import changing, forgetting, keeping, reading, writers
from tests.contracts.contract import Contract, OpenStore

CONTRACTS: tuple[Contract, ...] = tuple(
    Contract(number, check)
    for number, check in enumerate(
        (
            keeping.an_empty_store_is_empty,
            keeping.what_is_appended_comes_back_as_it_was,
            keeping.a_batch_sent_again_changes_nothing,
            keeping.an_interrupted_batch_goes_on_where_it_ended,
            keeping.an_append_that_fails_leaves_nothing,
            keeping.what_append_returned_for_is_there_after_reopening,
            keeping.unknown_fields_are_kept,
            keeping.every_text_is_kept,
            reading.steps_come_in_the_order_of_their_session,
            reading.sessions_do_not_mix,
            reading.a_step_of_two_sessions_is_in_both_and_counts_once,
            reading.projects_do_not_see_each_other,
            reading.pages_are_gapless_while_the_session_grows,
            changing.an_item_has_its_newest_version_whatever_comes_last,
            changing.two_items_of_one_alias_are_two_and_found_by_it,
            changing.a_compaction_gets_its_summary_once_it_is_known,
            changing.a_session_keeps_what_was_learned_of_it,
            changing.links_are_kept_once,
            forgetting.a_forgotten_step_is_gone_and_stays_gone,
            forgetting.a_forgotten_item_is_gone_and_stays_gone,
            forgetting.a_forgotten_session_is_gone_up_to_that_time,
            forgetting.a_forgotten_compaction_is_gone_and_stays_gone,
            forgetting.a_tombstone_may_come_before_what_it_names,
            writers.an_export_taken_in_is_exported_the_same,
            writers.eight_writers_lose_nothing,
            changing.a_step_that_was_masked_later_takes_the_place_of_the_other_one,
            changing.a_summary_that_was_masked_later_takes_the_place_of_the_other_one,
            changing.the_newer_version_of_an_item_is_the_whole_of_it,
        ),
        1,
    )
)

__all__ = ["CONTRACTS", "Contract", "OpenStore"]
