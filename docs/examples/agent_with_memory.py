"""An agent that remembers. Tell it something, and ask for it tomorrow:

python agent_with_memory.py "We keep the notes in SQLite, because it is one file. Record that."
python agent_with_memory.py "Where do we keep the notes, and why?"
"""

from __future__ import annotations

import asyncio
import sys

from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, ClaudeSDKClient, TextBlock

from unified_state import AgentMemory


async def ask(prompt: str) -> None:
    """Put a prompt to the agent, and print what it says."""
    options = ClaudeAgentOptions(allowed_tools=["Read", "Grep"])
    async with AgentMemory(options) as memory, ClaudeSDKClient(memory.options) as client:
        await client.query(prompt)
        async for message in client.receive_response():
            if isinstance(message, AssistantMessage):
                print(*(block.text for block in message.content if isinstance(block, TextBlock)))


if __name__ == "__main__":
    asyncio.run(ask(" ".join(sys.argv[1:])))
