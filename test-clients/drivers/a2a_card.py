"""Reads the agent card below an address with the resolver of a2a-sdk, and prints it."""
import asyncio
import sys

import httpx
from a2a.client import A2ACardResolver
from google.protobuf.json_format import MessageToJson


async def main(base: str) -> None:
    async with httpx.AsyncClient() as client:
        card = await A2ACardResolver(client, base).get_agent_card()
        print(MessageToJson(card))


asyncio.run(main(sys.argv[1]))
