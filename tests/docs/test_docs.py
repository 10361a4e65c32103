"""The documentation tells the truth: what is generated is up to date, links lead somewhere, examples do what they show.

Where a page is out of date, `make generate` mends it; the difference shows what readers would have been told.
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.docs import examples
from tests.docs.pages import PAGES, ROOT, anchors, blocks, links, name_of, program_calls, prose
from tests.tools import make_reference
from tests.tools.command_reference import subparsers_of
from unified_state import UnifiedStateManager
from unified_state.interfaces.cli.argument_parser import build_parser, parse
from unified_state.interfaces.cli.command_table import all_commands
from unified_state.interfaces.hook import EVENTS
from unified_state.model.step import KINDS
from unified_state.setting_table import SETTINGS

README, CONTRIBUTING, CHANGELOG = (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))
REFERENCE = ROOT / "docs" / "reference"
WITH_EXAMPLES = [
    page
    for page in PAGES
    if any(block.kind in {"console", "python"} for block in blocks(page.read_text(encoding="utf-8")))
]
LONGEST_START = 55  # words
MOST_WORDS = 38_000  # with all that is generated, hidden or a line of a table
MOST_WRITTEN = 25_000  # without what programs write
NEWCOMERS_COMMANDS = ["make demo", "make test"]
HOSTS = {"code.claude.com", "doi.org", "keepachangelog.com", "semver.org", "sqlite.org", "example.com"}
# An absolute path in the text is one of every machine, or one of Ada's; anything else is somebody's own.
PATHS = (
    "/home/ada",
    "/context-compact",
    "/compact",
    "/clear",
    "/cd",
    "/resume",
    "/mcp",
    "/hooks",
    "/health",
    "/unified-state",
    "/gone",
    "/dev/null",
    "/home/dev/shop",
)


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_generated_blocks_are_up_to_date() -> None:
    stale = [name_of(page) for page in PAGES if read(page) != make_reference.with_generated(read(page))]
    assert stale == [], "run `make generate`"


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
def test_examples_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    assert examples.run_page(read(page), tmp_path) == read(page), "run `make generate`, and look at the difference"


def test_what_can_be_generated_stands_on_one_page() -> None:
    found = Counter(name for page in PAGES for name in make_reference.generated_in(read(page)))
    assert found == dict.fromkeys(make_reference.GENERATED, 1)


def test_every_link_leads_somewhere() -> None:
    broken = []
    for page in PAGES:
        for link in links(read(page)):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not urlsplit(link).scheme and not (target.exists() and (not anchor or anchor in anchors(read(target)))):
                broken.append((name_of(page), link))
    assert broken == []


def test_without_extras_no_link_is_broken() -> None:
    """Of the other pages only the index leads to theirs, in a block that is generated from what is there."""
    folder, index = ROOT / "docs" / "extras", ROOT / "docs" / "extras.md"
    found = {
        page: {link for link in links(read(page)) if (page.parent / link).resolve().parent == folder} for page in PAGES
    }
    assert found[index] == {f"extras/{page.name}" for page in folder.glob("*.md")}
    assert [name_of(page) for page in PAGES if found[page] and page != index and page.parent != folder] == []


def test_every_command_line_is_one_that_the_program_takes(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = [(name_of(page), call) for page in PAGES for call in program_calls(read(page)) if not _is_understood(call)]
    assert wrong == []


def _is_understood(arguments: list[str]) -> bool:
    """Whether the parser takes a command line; the mere name of a command or verb is a way to speak of it."""
    if arguments in _names():
        return True
    try:
        parse(arguments)
    except SystemExit as end:
        return not end.code
    return True


@cache
def _names() -> list[list[str]]:
    commands = list(subparsers_of(build_parser(list(all_commands()))))
    verbs = [[name, verb] for name, parser in commands for verb, _ in subparsers_of(parser)]
    return [[], *([name] for name, _ in commands), *verbs]


def test_every_setting_in_a_toml_example_exists() -> None:
    tables = [tomllib.loads(block.text) for page in PAGES for block in blocks(read(page)) if block.kind == "toml"]
    assert {name for table in tables for name in table} <= {setting.name for setting in SETTINGS}


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("commands.md", [f"## {name}\n" for name in all_commands()]),
        ("settings.md", [f"* `{setting.name}` (" for setting in SETTINGS]),
        ("hooks.md", [f"| {event} |" for event in EVENTS]),
        ("json-output.md", [f"`{kind}`" for kind in KINDS]),
        (
            "json-output.md",
            [name for name in all_commands() if name not in {"hook", "completion", "question", "evidence"}],
        ),
        ("archive.md", [f"{number} {kind}" for number, kind in enumerate(KINDS)]),
    ],
)
def test_nothing_is_missing_from_a_reference_page(page: str, names: list[str]) -> None:
    text = read(REFERENCE / page)
    assert [name for name in names if name not in text] == []


def test_every_public_name_of_the_manager_has_words() -> None:
    public = [member for name, member in vars(UnifiedStateManager).items() if not name.startswith("_")]
    assert [member for member in public if not inspect.getdoc(member)] == []


@pytest.mark.parametrize("name", ["add-the-mcp-server", "use-the-plugin"])
def test_the_names_of_the_plugins_tools_are_told(name: str) -> None:
    """Claude Code names a plugin's tools by the plugin and by its server."""
    plugin = json.loads(read(ROOT / ".claude-plugin" / "plugin.json"))["name"]
    (server,) = json.loads(read(ROOT / ".mcp.json"))["mcpServers"]
    assert f"`mcp__plugin_{plugin}_{server}__" in read(ROOT / "docs" / "how-to" / f"{name}.md")


def test_a_how_to_begins_with_the_command() -> None:
    """Its reader sees a command, a setting or code without scrolling."""
    explained = {"lean-context", "history-on-a-server"}  # pages of extras that say why, not how
    of_extras = [page for page in (ROOT / "docs" / "extras").glob("*.md") if page.stem not in explained]
    for page in (*of_extras, *(ROOT / "docs" / "how-to").glob("*.md")):
        shown = re.sub(r"<!--.*?-->", "", read(page), flags=re.DOTALL)
        before, fence, _ = shown.partition("```")
        assert (name_of(page), bool(fence), len(before.split()) <= LONGEST_START) == (name_of(page), True, True)


def test_the_documentation_stays_short() -> None:
    texts = [read(page) for page in (ROOT / "docs").rglob("*.md")]
    assert sum(len(text.split()) for text in texts) <= MOST_WORDS
    assert sum(len(_written(text).split()) for text in texts) <= MOST_WRITTEN


def _written(text: str) -> str:
    """A page without what programs write: generated and measured parts, the scripts and the output of examples."""
    text = re.sub(
        r"<!-- (?:generated:|measured) .*?<!-- end -->|<!-- (?:setup|client)\n.*?-->", "", text, flags=re.DOTALL
    )
    console = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return console.sub(lambda found: "\n".join(re.findall(r"^\$ .*", found[1], re.MULTILINE)), text)


def test_every_line_that_one_will_see_is_one_that_the_program_says() -> None:
    """Of each line in the tables the fixed parts stand in the code."""
    said = "".join(read(path) for path in (ROOT / "unified_state").rglob("*.py"))
    said += said.replace("{verb.upper()}ED", "ACCEPTED") + said.replace("{verb.upper()}ED", "REJECTED")
    page = read(REFERENCE / "what-you-will-see.md")
    lines = [
        line
        for row in re.findall(r"^\| (`.*?) \| ", page, re.MULTILINE)
        for line in re.findall(r"`(.*?)`(?:, |$)", row)
    ]
    parts = [
        part for line in lines for part in re.split(r"…|K1|`unified-state", line) if len(part.strip()) > len("says:")
    ]
    assert len(lines) > 15
    assert [part for part in parts if part.strip(" ;:,.") not in said] == []


def test_the_glossary_has_at_most_40_terms() -> None:
    lines = read(ROOT / "docs" / "reference" / "glossary.md").splitlines()
    terms = [line for line in lines if line.startswith("* **")]
    assert 0 < len(terms) <= 40


def test_a_newcomer_needs_two_commands() -> None:
    _, _, section = read(README).partition("\n## From a clone\n")
    first = next(block for block in blocks(section) if block.kind == "sh")
    assert first.text.splitlines() == NEWCOMERS_COMMANDS


def test_the_paths_that_contributing_names_exist() -> None:
    named = {
        word
        for word in re.findall(r"`([\w./-]+)`", prose(read(CONTRIBUTING)))
        if "/" in word and not word.startswith("/")
    }
    known = {
        path
        for path in named
        if path.startswith(("unified_state/", "tests/", "commands/", "schemas/", "docs/", "benchmarks/", ".ci/"))
    }
    assert [path for path in sorted(known) if not (ROOT / path).exists()] == []
    assert len(known) > 15


def test_every_threat_names_tests_that_exist() -> None:
    table = (ROOT / "SECURITY.md").read_text(encoding="utf-8").partition("| threat | promise | tested by |\n")[2]
    rows = table.partition("\n\n")[0].splitlines()[1:]
    named = {row: re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row.rpartition(" | ")[2]) for row in rows}
    assert [row for row, tests in named.items() if not tests] == []
    missing = [
        f"{path}::{name}"
        for path, name in {test for tests in named.values() for test in tests}
        if not (ROOT / path).is_file() or f"def {name}(" not in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert missing == []
    assert len(rows) > 15


def test_contributing_names_every_folder_of_the_package() -> None:
    layers = [
        path.parent.name for path in (ROOT / "unified_state").glob("*/__init__.py") if path.parent.name != "assets"
    ]
    assert [name for name in layers if f"`unified_state/{name}/`" not in read(CONTRIBUTING)] == []


def test_no_page_names_anybodys_machine() -> None:
    text = re.sub(r"https?://\S+", "", "\n".join(map(read, PAGES)))
    paths = re.findall(r"(?<![\w.~<\u2039}*)/-])/(?:[\w.-]+/)*[\w.-]+", text)
    assert [path for path in paths if not path.startswith(PATHS)] == []


def test_links_to_other_sites_lead_to_known_ones() -> None:
    urls = re.findall(r"https?://[^\s)\"'`>]+", "\n".join(map(read, PAGES)))
    hosts = {urlsplit(url).hostname for url in urls}
    assert hosts <= HOSTS
