"""Routes by path."""

from shop.health import health
from shop.limiter import Bucket

BUCKETS: dict[str, Bucket] = {}


def call(path: str, client: str, now: float) -> tuple[int, dict[str, str]]:
    """Answer a request: the status and the body."""
    bucket = BUCKETS.setdefault(client, Bucket(now))
    if not bucket.take(now):
        return 429, {"retry-after": str(bucket.wait())}
    return (200, health()) if path == "/health" else (404, {})
