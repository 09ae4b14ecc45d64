"""Runs the node of an adapter in a graph, with a message that calls the tool."""

import asyncio
import json
import sys

from adapter import load, prefix

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph

module = load()


async def main() -> None:
    tools = await getattr(module, prefix + "_tools")()
    assert await getattr(module, prefix + "_tools")() == tools
    graph = StateGraph(MessagesState)
    graph.add_node(module.NODE_NAME, getattr(module, prefix + "_node"))
    graph.add_edge(START, module.NODE_NAME)
    graph.add_edge(module.NODE_NAME, END)
    call = {"name": "echo_text", "args": {"text": "hello"}, "id": "1", "type": "tool_call"}
    state = await graph.compile().ainvoke({"messages": [AIMessage(content="", tool_calls=[call])]})
    content = state["messages"][-1].content
    answer = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    json.dump({"tools": [each.name for each in tools], "answer": answer}, sys.stdout)


asyncio.run(main())
