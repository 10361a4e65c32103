"""The health route, which the load balancer calls."""


def health() -> dict[str, str]:
    """Say that the process lives."""
    return {"status": "ok"}
