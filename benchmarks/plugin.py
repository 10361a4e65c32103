"""What the plugin adds to a prompt: its hook beside that of `install`, where it yields, and where no program is there.

    python -m benchmarks.plugin [--rounds N]

Target: at most 0.1 x node -e 0 over the hook of `install`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.arguments import described
from benchmarks.generated import write_transcript
from benchmarks.latency import growing
from benchmarks.side_by_side import Contender, compare, node
from benchmarks.world import PROGRAM, World
from unified_state.hosts.install.hook_table import plugin_hooks

ROOT = Path(__file__).parent.parent
EVENT = "UserPromptSubmit"


def prompt(folder: Path, name: str, *, with_install: bool = False, has_program: bool = True) -> Contender:
    """The plugin's hook in a world of its own, as the client calls it."""
    world = World(folder / name)
    transcript = world.folder / "s.jsonl"
    write_transcript(transcript, 500, transcript.stem)
    if has_program:
        world.archive(transcript)
    if with_install:
        world.run("install")
    (group,) = plugin_hooks()["hooks"][EVENT]
    _, stdin = world.hook(EVENT, transcript, prompt="go on")
    environment = {
        **world.environment,
        "PATH": f"{Path(PROGRAM).parent}:/usr/bin:/bin" if has_program else "/usr/bin:/bin",
        "CLAUDE_PLUGIN_ROOT": str(ROOT),
        "CLAUDE_PLUGIN_DATA": str(world.folder / "data"),
        "CLAUDE_PROJECT_DIR": str(world.project),
    }
    command = ["/bin/sh", "-c", group["hooks"][0]["command"]]
    return Contender(name, command, lambda: stdin, growing(transcript), environment)


def installed(folder: Path, name: str) -> Contender:
    """The hook of `install`."""
    world = World(folder / name)
    transcript = world.folder / "s.jsonl"
    write_transcript(transcript, 500, transcript.stem)
    world.archive(transcript)
    return world.contender(name, EVENT, transcript, prepare=growing(transcript), prompt="go on")


def main() -> None:
    """Print the table; each row is a whole process, with one new turn to archive where it does."""
    parser = described(__doc__)
    parser.add_argument("--rounds", type=int, default=41)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        contenders = [
            installed(folder, "the hook of install"),
            prompt(folder, "the hook of the plugin"),
            prompt(folder, "the plugin beside install", with_install=True),
            prompt(folder, "the plugin without a program", has_program=False),
        ]
        compare([node(), *contenders], options.rounds)


if __name__ == "__main__":
    main()
