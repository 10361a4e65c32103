"""A token bucket for each client."""

CAPACITY = 100
REFILL = 10  # tokens a second


class Bucket:
    """Tokens that come back with time."""

    def __init__(self, now: float) -> None:
        self.tokens, self.at = float(CAPACITY), now

    def take(self, now: float, count: int = 1) -> bool:
        """Take tokens, if there are so many."""
        self.tokens = min(float(CAPACITY), self.tokens + (now - self.at) * REFILL)
        self.at = now
        if self.tokens < count:
            return False
        self.tokens -= count
        return True

    def wait(self, count: int = 1) -> int:
        """Return the seconds until so many tokens are there."""
        return int((count - self.tokens) / REFILL)
