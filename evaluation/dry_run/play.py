"""Stories are played side by side, each in a temporary folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from pathlib import Path

from evaluation.dry_run.session import Session, Told
from evaluation.dry_run.stories import Story


def play(stories: Sequence[Story]) -> list[Told]:
    """What the product tells in each story; stories of one session are played together."""
    groups = [list(group) for _, group in groupby(stories, key=lambda story: (story.decided, story.works))]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return [told for group in pool.map(play_group, groups) for told in group]


def play_group(stories: Sequence[Story]) -> list[Told]:
    """Play stories that are the same up to their last prompt."""
    with tempfile.TemporaryDirectory(prefix="unified-state-") as folder:
        session = Session(stories[0], Path(folder) / "s")
        session.compact_all()
        return [session.play_again(story) for story in stories]
