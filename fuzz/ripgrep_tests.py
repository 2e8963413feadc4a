#!/usr/bin/env python3
"""Runs ripgrep's own tests on `comb grep`.

    fuzz/ripgrep_tests.py [--comb PROGRAM] [--version 15.2.0]

The tests are those of ripgrep's package, which cargo fetches and builds in a temporary folder; then a script that calls
`comb grep` takes the place of the `rg` that they run. Prints the tests that fail and how many pass. docs/ripgrep.md says why the others
are meant to fail.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MANIFEST = """[package]
name = "fetch"
version = "0.0.0"
edition = "2021"

[lib]
path = "lib.rs"

[dependencies]
ripgrep = "={version}"
"""


def fetch(folder: Path, version: str) -> Path:
    """The sources of ripgrep, copied to a place where they may be built."""
    folder.mkdir()
    (folder / "Cargo.toml").write_text(MANIFEST.replace("{version}", version))
    (folder / "lib.rs").touch()
    subprocess.run(["cargo", "fetch", "--quiet"], cwd=folder, check=True)
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    found = sorted(home.glob(f"registry/src/*/ripgrep-{version}"))
    if not found:
        sys.exit(f"cargo has fetched no ripgrep {version}")
    return Path(shutil.copytree(found[0], folder.parent / "ripgrep"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--version", default="15.2.0")
    arguments = parser.parse_args()
    comb = Path(arguments.comb).resolve()
    with tempfile.TemporaryDirectory() as directory:
        source = fetch(Path(directory) / "fetch", arguments.version)
        target = Path(directory) / "target"
        environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
        subprocess.run(["cargo", "test", "--quiet", "--features", "pcre2", "--test", "integration", "--no-run"], cwd=source, env=environment, check=True)
        tests = [path for path in (target / "debug/deps").glob("integration-*") if os.access(path, os.X_OK) and path.suffix == ""]
        program = target / "debug/rg"
        program.unlink()
        program.write_text(f'#!/bin/sh\nexec "{comb}" grep "$@"\n')
        program.chmod(0o755)
        done = subprocess.run([tests[0]], cwd=source, env=environment, capture_output=True, text=True)
    failed = re.findall(r"^test (\S+) \.\.\. FAILED$", done.stdout, re.MULTILINE)
    passed = len(re.findall(r"^test \S+ \.\.\. ok$", done.stdout, re.MULTILINE))
    for name in failed:
        print(f"FAILED {name}")
    print(f"{passed} of {passed + len(failed)} tests of ripgrep {arguments.version} pass")


if __name__ == "__main__":
    main()
