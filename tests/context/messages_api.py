"""What the Messages API asks of a conversation, checked without a line of the product; and conversations that pass."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Message = dict[str, Any]
Block = dict[str, Any]

UNITS = ("word ", "語", "\U0001f468\u200d\U0001f469", "a\r\n", "\ud83d", "  x")
IMITATION = "[earlier context pruned: 9,999 characters, recall S1]" * 9
TEXTS = st.one_of(
    st.text(min_size=1, max_size=20),
    st.builds(str.__mul__, st.sampled_from(UNITS), st.integers(1, 300)),
    st.just(IMITATION),
).map(lambda text: text if text.strip() else "x")


def problems(messages: list[Message]) -> list[str]:
    """Why the API would refuse the messages; nothing if it would not."""
    found = [] if messages and messages[0]["role"] == "user" else ["the first message is not the user's"]
    open_calls: set[str] = set()
    for position, message in enumerate(messages):
        blocks = _blocks(message)
        if not blocks:
            found.append(f"{position}: no content")
        found += [f"{position}: {problem}" for block in blocks for problem in _block_problems(block)]
        if message["role"] == "user":
            answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
            if set(answered) != open_calls or len(set(answered)) != len(answered):
                found.append(f"{position}: results of {answered}, calls of {open_calls}")
            kinds = [block["type"] == "tool_result" for block in blocks]
            if kinds != sorted(kinds, reverse=True):
                found.append(f"{position}: results stand behind other blocks")
            open_calls = set()
        else:
            open_calls = {block["id"] for block in blocks if block["type"] == "tool_use"}
            found += [f"{position}: {problem}" for problem in _server_problems(blocks)]
    marks = sum("cache_control" in block for message in messages for block in _blocks(message))
    return found + ([f"{marks} blocks with cache_control"] if marks > 4 else [])


def _blocks(message: Message) -> list[Block]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _block_problems(block: Block) -> list[str]:
    match block["type"]:
        case "text":
            return [] if isinstance(block["text"], str) and block["text"].strip() else ["blank text"]
        case "tool_result" if isinstance(block.get("content"), list):
            return [problem for part in block["content"] for problem in _block_problems(part)]
        case "thinking":
            return [] if block["signature"] == f"signed {len(block['thinking'])}" else ["a broken signature"]
    return []


def _server_problems(blocks: list[Block]) -> list[str]:
    calls = [block["id"] for block in blocks if block["type"] == "server_tool_use"]
    results = [block["tool_use_id"] for block in blocks if block["type"] == "web_search_tool_result"]
    return [] if calls == results else ["a server tool without its result"]


@st.composite
def text_blocks(draw: st.DrawFn) -> Block:
    """A text, cited or not."""
    block: Block = {"type": "text", "text": draw(TEXTS)}
    citations = draw(st.sampled_from((..., None, [], [{"type": "char_location", "cited_text": "x"}])))
    return block if citations is ... else {**block, "citations": citations}


IMAGES = st.builds(
    lambda data: {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
    st.sampled_from(("iVBO", "iVBO" * 5000)),
)
DOCUMENTS = st.builds(
    lambda text: {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}}, TEXTS
)
THINKING = st.one_of(
    TEXTS.map(lambda text: {"type": "thinking", "thinking": text, "signature": f"signed {len(text)}"}),
    TEXTS.map(lambda text: {"type": "redacted_thinking", "data": text}),
)
RESULT_CONTENTS = st.one_of(
    st.none(), TEXTS, st.just(""), st.lists(st.one_of(text_blocks(), IMAGES, DOCUMENTS), min_size=1, max_size=3)
)


@st.composite
def _answers(draw: st.DrawFn, number: int) -> Message:
    if draw(st.booleans()):
        return {"role": "assistant", "content": draw(TEXTS)}
    blocks: list[Block] = draw(st.lists(THINKING, max_size=2))
    if draw(st.booleans()):
        name = f"srvtoolu_{number}"
        blocks.append({"type": "server_tool_use", "id": name, "name": "web_search", "input": {"query": "x"}})
        found = [{"type": "web_search_result", "url": "https://a.example", "encrypted_content": draw(TEXTS)}]
        blocks.append({"type": "web_search_tool_result", "tool_use_id": name, "content": found})
    blocks += draw(st.lists(text_blocks(), max_size=2))
    for call in range(draw(st.integers(0, 2))):
        given = {"command": draw(TEXTS)}
        blocks.append({"type": "tool_use", "id": f"toolu_{number}_{call}", "name": "bash", "input": given})
    return {"role": "assistant", "content": blocks or draw(TEXTS)}


@st.composite
def _prompts(draw: st.DrawFn, calls: list[str]) -> Message:
    results: list[Block] = []
    for call in calls:
        result: Block = {"type": "tool_result", "tool_use_id": call}
        content = draw(RESULT_CONTENTS)
        if content is not None:
            result["content"] = content
        if draw(st.booleans()):
            result["is_error"] = draw(st.booleans())
        results.append(result)
    if not calls and draw(st.booleans()):
        return {"role": "user", "content": draw(TEXTS)}
    others = st.lists(st.one_of(text_blocks(), IMAGES, DOCUMENTS), min_size=0 if calls else 1, max_size=2)
    return {"role": "user", "content": [*results, *draw(others)]}


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """A conversation as an agent holds it, that ends with the user: what is sent to the API."""
    messages: list[Message] = [draw(_prompts([]))]
    for number in range(draw(st.integers(0, 12))):
        answer = draw(_answers(number))
        messages += [answer, draw(_prompts([block["id"] for block in _blocks(answer) if block["type"] == "tool_use"]))]
    marked = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    able = [block for block in marked if "thinking" not in block["type"]]
    for block in draw(st.lists(st.sampled_from(able), max_size=4, unique_by=id)) if able else []:
        block["cache_control"] = {"type": "ephemeral"}
    return messages
