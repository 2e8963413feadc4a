#!/usr/bin/env python3
"""Measures searches of `comb mcp`, one after the other, against the same searches of `comb grep`.

    bench/mcp.py --tree DIR [--comb PROGRAM] [--rounds N] [--watch]

One server answers all searches. Each is asked N times in turns with the command, with a warm cache. The table has medians of the wall time in milliseconds:
of the call, of the command, and of the command without its start, which is the time of `comb grep` with an empty file. With an index of DIR,
both use it; with --watch, `comb index watch` runs meanwhile, and comb is otherwise measured beside none. The matching lines of both must be
equally many. Exit status 1 if a call takes more than its command less the start, with a tolerance of a millisecond.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = ["PM_RESUME", "[A-Z]+_SUSPEND", r"EXPORT_SYMBOL_GPL\(.*_register", "ext4_map_blocks", "kmalloc_array", "nowhere_at_all"]
TOLERANCE = 1e-3


class Server:
    def __init__(self, comb: str, tree: Path):
        # Answers hold all results, as the output of the command does.
        command = [comb, "mcp", "--max-output", "64M", str(tree)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict) -> bytes:
        self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return self.process.stdout.readline()

    def search(self, pattern: str, limit: int) -> tuple[float, str]:
        """Wall time and text of a call."""
        start = time.perf_counter()
        answer = self.ask("tools/call", {"name": "search", "arguments": {"pattern": pattern, "regex": True, "limit": limit, "sort": "path"}})
        took = time.perf_counter() - start
        return took, json.loads(answer)["result"]["content"][0]["text"]


def command(comb: str, tree: Path, arguments: list[str]) -> tuple[float, bytes]:
    start = time.perf_counter()
    done = subprocess.run([comb, "grep", *arguments], cwd=tree, stdin=subprocess.DEVNULL, capture_output=True)
    return time.perf_counter() - start, done.stdout


def measure(options: argparse.Namespace, empty: str) -> bool:
    server, tree = Server(options.comb, options.tree), options.tree
    is_fast_enough, all_calls = True, []
    print("| pattern | lines | call | call, 100 lines | command | command less start |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for pattern in PATTERNS:
        times = {"call": [], "page": [], "command": [], "start": []}
        for number in range(options.rounds + 1):
            call, text = server.search(pattern, 10**9)
            page, _ = server.search(pattern, 100)
            run, output = command(options.comb, tree, ["-n", pattern])
            start, _ = command(options.comb, tree, [pattern, empty])
            if number:
                for name, value in zip(times, (call, page, run, start)):
                    times[name].append(value)
        lines = output.count(b"\n")
        found = sum(line[:1].isdigit() and ":" in line for line in text.splitlines())
        if found != lines:
            print(f"{pattern}: {found} lines in the answer, {lines} of the command", file=sys.stderr)
            is_fast_enough = False
        median = {name: statistics.median(values) for name, values in times.items()}
        rest = median["command"] - median["start"]
        is_fast_enough &= median["page"] <= rest + TOLERANCE
        all_calls += times["page"]
        shown = [f"{value * 1e3:.1f}" for value in (median["call"], median["page"], median["command"], rest)]
        print(f"| `{pattern}` | {lines:,} | {' | '.join(shown)} |", flush=True)
    print(f"\n{len(all_calls)} calls with 100 lines: median {statistics.median(all_calls) * 1e3:.1f} ms, maximum {max(all_calls) * 1e3:.1f} ms")
    return is_fast_enough


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--comb", default=str(ROOT / "target/release/comb"))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--watch", action="store_true")
    options = parser.parse_args()
    watch = None
    if options.watch:
        watch = subprocess.Popen([options.comb, "index", "watch", str(options.tree)], stderr=subprocess.PIPE, text=True)
        # It reports when it watches everything.
        print(watch.stderr.readline().strip(), file=sys.stderr)
    try:
        with tempfile.NamedTemporaryFile() as empty:
            print(f"{machine.describe(options.tree)}\n")
            return 0 if measure(options, empty.name) else 1
    finally:
        if watch:
            watch.terminate()
            watch.wait()


if __name__ == "__main__":
    sys.exit(main())
