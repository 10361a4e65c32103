"""The sessions, the timeline and the compactions in a terminal, for a machine without a browser."""

from __future__ import annotations

from itertools import chain

from rich.text import Text
from textual.app import App
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Header, Static, Tree

from unified_state.agents.transcripts.rules.hosts import title_of_host
from unified_state.interfaces.viewer.compaction_page import BACK, LOST, MORE, SAFE, VERDICTS, compaction_values
from unified_state.interfaces.viewer.page_writer import PART_NAMES, line, local_time, number, shown
from unified_state.interfaces.viewer.session_pages import Call, read_page, session_values
from unified_state.lib.times import current_time
from unified_state.memory.archive.compactions import Compaction
from unified_state.memory.timeline.timeline_table import session_page
from unified_state.model.step import PROMPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, ClassVar

    from textual.binding import BindingType
    from textual.widgets.tree import TreeNode

    from unified_state.interfaces.viewer.open_projects import Project
    from unified_state.interfaces.viewer.session_pages import Page, Turn
    from unified_state.memory.timeline.timeline_table import RestoreLine

_SESSIONS = 500
_TEXT, _LINE = 3_000, 120  # characters
_COLOURS = {LOST: "red", BACK: "cyan", SAFE: "green", MORE: ""}
_BACK = Binding("escape,q", "app.pop_screen", "Back")
_MOVES: list[BindingType] = [Binding("j", "cursor_down", show=False), Binding("k", "cursor_up", show=False)]


class _Table(DataTable[Text]):
    BINDINGS: ClassVar[list[BindingType]] = _MOVES


class _Timeline(Tree[int]):
    BINDINGS: ClassVar[list[BindingType]] = _MOVES


class TerminalView(App[None]):
    """The application: a table of sessions; a session opens as a tree of turns, a compaction as a table."""

    TITLE = "unified-state"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "quit", "Quit")]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, project: Project) -> None:
        super().__init__()
        self._project = project

    def compose(self) -> Iterator[Any]:
        """Show the table of sessions."""
        yield Header()
        yield _Table(cursor_type="row")
        yield Footer()

    def on_mount(self) -> None:
        """Fill the table."""
        self.sub_title = line(self._project.name)
        table = self.query_one(_Table)
        table.add_columns("last turn", "session", "host", "turns", "compactions", "tokens")
        for one in self._project.read(lambda archive: session_page(archive, current_time(), 0, _SESSIONS)):
            title = line(one.title or one.first_prompt, _LINE)
            counted = (number(one.turns), number(one.compactions), number(one.tokens))
            cells = (local_time(one.last_at), title, title_of_host(one.session_id), *counted)
            table.add_row(*map(Text, cells), key=str(one.number))
        table.focus()

    def on_data_table_row_selected(self, chosen: DataTable.RowSelected) -> None:
        """Open the chosen session."""
        self.push_screen(SessionScreen(self._project, int(chosen.row_key.value or 0)))


class SessionScreen(Screen[None]):
    """The turns of a session, the compactions between them, and what hooks told the model."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _BACK,
        Binding("p", "earlier", "Earlier turns"),
        Binding("n", "later", "Later turns"),
    ]

    def __init__(self, project: Project, session: int) -> None:
        super().__init__()
        self._project, self._session = project, session
        self._page: Page | None = None

    def compose(self) -> Iterator[Any]:
        """Show the tree."""
        yield Header()
        yield _Timeline("")
        yield Footer()

    def on_mount(self) -> None:
        """Fill the tree with the end of the session."""
        self._show(None)
        self.query_one(_Timeline).focus()

    def action_earlier(self) -> None:
        """Show the turns before these."""
        if self._page is not None and self._page.earlier is not None:
            self._show(self._page.earlier)

    def action_later(self) -> None:
        """Show the turns behind these."""
        if self._page is not None and self._page.later is not None:
            self._show(self._page.later)

    def _show(self, first: int | None) -> None:
        def read(archive: Any) -> tuple[dict[str, Any], Page]:
            values = session_values(archive, self._session)
            return values, read_page(archive, self._session, first, values["compactions"])

        values, self._page = self._project.read(read)
        told = values["session"]
        tree = self.query_one(_Timeline)
        tree.reset(Text(line(told.title or told.first_prompt, _LINE)))
        tree.root.expand()
        for turn in self._page.turns:
            for marker in turn.before:
                _add_marker(tree.root, marker)
            if turn.parts:
                _add_turn(tree.root, turn)

    def on_tree_node_selected(self, chosen: Tree.NodeSelected[int]) -> None:
        """Open the chosen compaction."""
        if chosen.node.data is not None:
            self.app.push_screen(CompactionScreen(self._project, chosen.node.data))


def _add_marker(root: TreeNode[int], marker: Compaction | RestoreLine) -> None:
    if isinstance(marker, Compaction):
        size = f" at {number(marker.pre_tokens)} tokens" if marker.pre_tokens else ""
        root.add_leaf(Text(f"✂ K{marker.id} compaction{size}: Enter shows what was kept and lost", "yellow"), marker.id)
        return
    arrived = "arrived" if marker.delivered_at else "not seen in the transcript"
    node = root.add(Text(f"↧ told the model {PART_NAMES.get(marker.part, marker.part)} ({arrived})", "green"))
    node.add_leaf(Text(shown(marker.text, _TEXT)))


def _add_turn(root: TreeNode[int], turn: Turn) -> None:
    who = f"subagent {line(turn.line.agent, 40)}: " if turn.line.agent else ""
    head = f"T{turn.line.number} {local_time(turn.line.at, '%H:%M:%S')} {who}{line(turn.first_text, _LINE)}"
    node = root.add(Text(head, "dim" if turn.line.agent else "bold"), expand=not turn.line.agent)
    for part in turn.parts:
        if isinstance(part, Call):
            failed = part.result is not None and part.result.is_error
            label = Text(f"{line(part.step.tool, 40)} {line(part.about, _LINE)}", "red" if failed else "")
            _add_texts(node, label, part.step.text, part.result.text if part.result else "no result is archived")
        else:
            _, step = part
            label = Text(f"{'you' if step.kind == PROMPT else step.kind}: {line(step.text, _LINE)}")
            _add_texts(node, label, step.text)


def _add_texts(node: TreeNode[int], label: Text, *texts: str) -> None:
    inner = node.add(label)
    for text in texts:
        for one in shown(text, _TEXT).splitlines():
            inner.add_leaf(Text(one))


class CompactionScreen(Screen[None]):
    """What was known, what the summary kept, what came back: a row for each item, and the texts below."""

    BINDINGS: ClassVar[list[BindingType]] = [_BACK]

    def __init__(self, project: Project, compaction: int) -> None:
        super().__init__()
        self._project, self._compaction = project, compaction

    def compose(self) -> Iterator[Any]:
        """Show the table, and the summary below."""
        values = self._project.read(lambda archive: compaction_values(archive, self._compaction))
        yield Header()
        yield Static(Text(f"✂ K{self._compaction}  {' '.join(values['headline'])}", "bold"), id="headline")
        table = _Table(cursor_type="row")
        table.add_columns("", "what was known", "what the summary kept", "what came back")
        for fate in chain.from_iterable(values["groups"].values()):
            sign, said = VERDICTS[fate.verdict]
            back = PART_NAMES.get(fate.told, fate.told) + (", arrived" if fate.arrived else "") if fate.told else ""
            cells = (fate.ref, line(fate.text, 60), f"{sign} {said}", back)
            table.add_row(*(Text(cell, _COLOURS[fate.outcome]) for cell in cells))
        yield table
        with VerticalScroll():
            yield Static(Text("The client's summary", "bold"))
            yield Static(Text(shown(values["cut"].summary or "its summary was not archived")), id="summary")
            for restore in values["restores"]:
                arrived = "arrived" if restore.delivered_at else "not seen in the transcript"
                yield Static(
                    Text(f"\nWhat came back: {PART_NAMES.get(restore.part, restore.part)} ({arrived})", "bold")
                )
                yield Static(Text(shown(restore.text)), classes="restored")
        yield Footer()
