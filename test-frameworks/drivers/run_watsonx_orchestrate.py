"""Reads toolkits as the command line of watsonx Orchestrate does, with its own validation."""

import json
import sys

import yaml
from ibm_watsonx_orchestrate.agent_builder.toolkits.types import ToolkitMCPInputSpec

FIELDS = ["name", "command", "args", "url", "transport", "tools", "connections"]


def read(path: str) -> dict:
    with open(path, encoding="utf-8") as file:
        content = yaml.safe_load(file)
    content.pop("spec_version")
    spec = ToolkitMCPInputSpec(**content)
    return {field: getattr(spec, field) for field in FIELDS}


json.dump([read(path) for path in sys.argv[1:]], sys.stdout)
