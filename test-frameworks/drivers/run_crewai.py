"""Asks the adapter for the tools of an agent, looks at their schemas, and runs one."""

import json
import sys

from adapter import load, prefix

tools = getattr(load(), prefix + "_tools")()
schema = tools[0].args_schema.model_json_schema()
answer = tools[0].run(text="hello")
print()
json.dump({"tools": [each.name for each in tools], "arguments": list(schema["properties"]), "answer": str(answer)}, sys.stdout)
