"""An agent of the Claude Agent SDK that a test runs inside a scenario: its clients, all at once, ask the same prompts.

    python sdk_agent.py '{"options": {…}, "prompts": […], "clients": 1, "lean": null}'

It prints one JSON object: the events it has hooks for, the sessions, the results of the first, and what went wrong in
its event loop.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage

from unified_state import AgentMemory


async def converse(options: ClaudeAgentOptions, prompts: list[str]) -> list[ResultMessage]:
    """What the prompts gave."""
    results = []
    async with ClaudeSDKClient(options) as client:
        for prompt in prompts:
            await client.query(prompt)
            results += [message async for message in client.receive_response() if isinstance(message, ResultMessage)]
    return results


async def main(options: dict[str, Any], prompts: list[str], clients: int, lean: str | None) -> dict[str, Any]:
    """What all clients saw."""
    problems: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: problems.append(str(context)))
    with AgentMemory(ClaudeAgentOptions(**options), lean=lean) as memory:
        found = await asyncio.gather(*(converse(memory.options, prompts) for _ in range(clients)))
    return {
        "hooks": sorted(memory.options.hooks or {}),
        "session_id": found[0][-1].session_id,
        "session_ids": [results[-1].session_id for results in found],
        "results": [result.result for result in found[0]],
        "problems": problems,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(**json.loads(sys.argv[1])))))
