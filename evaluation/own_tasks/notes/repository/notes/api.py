"""The public interface; other programs import it."""

from notes.tags import tags


def find(notes: list[str], tag: str) -> list[str]:
    """Return the notes with a tag."""
    return [note for note in notes if tag in tags(note)]
