"""MCP: an agent's client asks the server of ``vouch mcp``, which it starts itself.

Needs mcp (pip install 'vouching[serve]'). Prints:
    Not Attributable Change 1937 to 1973.
"""

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

server = StdioServerParameters(command=sys.executable, args=["-m", "vouching", "mcp", "--model", "embedded:rules"])
asked = {
    "claim": "The bridge opened in 1937.",
    "sources": [{"doc_id": "bridge.txt", "text": "The bridge opened in 1973."}],
}


async def main() -> None:
    """Ask once."""
    async with Client(stdio_client(server)) as client:
        result = await client.call_tool("verify_claim", asked)
        print(result.structured_content["label"], result.structured_content["finding"]["fix_suggestion"])


asyncio.run(main())
