"""What unified-state gives in each task's dry run: the size of the arms `tail` and `placebo` with a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evaluation.dry_run.contexts import placebo_of, size_of
from evaluation.dry_run.play import play
from evaluation.dry_run.stories import decision_stories, find_works
from evaluation.tasks import Task


def sizes_of(tasks: Sequence[Task], transcripts: Path, compactions: int) -> dict[str, tuple[int, str]]:
    """The tokens, and as many of another task's restore, by the name of the task."""
    stories = decision_stories(tasks, find_works(transcripts), compactions)
    told = play(stories)
    return {
        story.name: (size_of(told[number]), placebo_of(stories, told, number)) for number, story in enumerate(stories)
    }
