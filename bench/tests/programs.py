"""Programs of bench/ as modules, which their names without an extension do not make them."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

BENCH = Path(__file__).resolve().parents[1]


def load(name: str) -> ModuleType:
    """The program of this name, with the modules of bench/ that it imports."""
    if str(BENCH) not in sys.path:
        sys.path.insert(0, str(BENCH))
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(name, str(BENCH / name))
    program = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    # Data classes look for their module there.
    sys.modules[name] = program
    loader.exec_module(program)
    return program
