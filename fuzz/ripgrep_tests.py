#!/usr/bin/env python3
"""Runs the test suite of ripgrep on comb under the name `rg`.

    fuzz/ripgrep_tests.py [--comb PROGRAM] [--version 15.2.0]

cargo fetches ripgrep's package and builds its tests in a temporary directory; then a link to comb replaces the `rg`
under test. Prints the failed tests and the number of passed ones. docs/ripgrep.md explains the expected failures.
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
    """Copies the sources of ripgrep into a directory for the build."""
    folder.mkdir()
    (folder / "Cargo.toml").write_text(MANIFEST.replace("{version}", version))
    (folder / "lib.rs").touch()
    subprocess.run(["cargo", "fetch", "--quiet"], cwd=folder, check=True)
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    found = sorted(home.glob(f"registry/src/*/ripgrep-{version}"))
    if not found:
        sys.exit(f"cargo did not fetch ripgrep {version}")
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
        program.symlink_to(comb)
        done = subprocess.run([tests[0]], cwd=source, env=environment, capture_output=True, text=True)
    failed = re.findall(r"^test (\S+) \.\.\. FAILED$", done.stdout, re.MULTILINE)
    passed = len(re.findall(r"^test \S+ \.\.\. ok$", done.stdout, re.MULTILINE))
    for name in failed:
        print(f"FAILED {name}")
    print(f"{passed} of {passed + len(failed)} tests of ripgrep {arguments.version} pass")


if __name__ == "__main__":
    main()
