"""No new dependency."""

import subprocess


def test_no_dependency_is_added():
    changed = subprocess.run(["git", "diff", "HEAD", "--name-only"], capture_output=True, text=True, check=True).stdout
    assert "requirements.txt" not in changed.split()
