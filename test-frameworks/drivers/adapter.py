"""Imports the adapter that is named in the command line."""

import importlib.util
import sys
from types import ModuleType

prefix = sys.argv[2] if len(sys.argv) > 2 else ""


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("glue", sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
