"""An agent of the Claude Agent SDK that a test runs inside a scenario: it asks one prompt after the other.

    python sdk_agent.py '{"options": {…}, "prompts": […]}'

It prints one JSON object: the session's id, the results, and what went wrong in its event loop.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage

from unified_state import AgentMemory


async def converse(options: dict[str, Any], prompts: list[str]) -> dict[str, Any]:
    """What the prompts gave."""
    problems: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: problems.append(str(context)))
    seen: dict[str, Any] = {"results": [], "problems": problems, "hooks": []}
    with AgentMemory(ClaudeAgentOptions(**options)) as memory:
        seen["hooks"] = sorted(memory.options.hooks or {})
        async with ClaudeSDKClient(memory.options) as client:
            for prompt in prompts:
                await client.query(prompt)
                async for message in client.receive_response():
                    if isinstance(message, ResultMessage):
                        seen["session_id"] = message.session_id
                        seen["results"].append(message.result)
    return seen


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(asyncio.run(converse(given["options"], given["prompts"]))))
