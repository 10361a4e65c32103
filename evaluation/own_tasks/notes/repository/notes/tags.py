"""Tags of a note."""


def tags(text: str) -> list[str]:
    """Return the tags of a text."""
    return [word[1:] for word in text.split() if word.startswith("#")]
