"""Never touch the health route."""

import subprocess


def test_the_health_route_is_untouched():
    changed = subprocess.run(["git", "diff", "HEAD", "--name-only"], capture_output=True, text=True, check=True).stdout
    assert "shop/health.py" not in changed.split()
