"""Asks the adapter for the tools of an agent, and runs one."""

import asyncio
import json
import sys

from adapter import load, prefix

from autogen_core import CancellationToken


async def main() -> None:
    tools = await getattr(load(), prefix + "_tools")()
    result = await tools[0].run_json({"text": "hello"}, CancellationToken())
    answer = tools[0].return_value_as_string(result)
    json.dump({"tools": [each.name for each in tools], "answer": answer}, sys.stdout)


asyncio.run(main())
