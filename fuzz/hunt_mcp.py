#!/usr/bin/env python3
"""Hunts for faults of `comb mcp` with random calls in random trees.

    fuzz/hunt_mcp.py [--comb PROGRAM] [--runs N] [--per-run N] [--seed N] [--only N]

Each run makes a tree and starts a server with random limits. The pages of each call, put together, must be what `comb grep --json`, `comb grep
--files` and `comb symbols --json` print for the same flags, in any order if they are sorted by relevance. Between the calls it sends lines that are no requests, requests with random members, and
paths that lead out of the root: each must be answered by an error, and nothing from outside may be in an answer. A fault is printed with
the call, and the number of the run repeats it with --only.
"""

import argparse
import base64
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = ["a", "a-b", "a.b", "A", "-", "é", "x y", "b:1@2+3", "%41", "z~", ".hidden"]
ENDINGS = [".rs", ".py", ".c", ".txt", ""]
LINES = [
    b"x = 1\n", b"needle\n", b"fn x() { needle() } fn y() {}\n", b"\n", b"x\r\n", b"def needle(x):\n", b"    return x\n", b"int needle(int x) {\n",
    b"}\n", b"\xff needle \xfe\n", b"needle" * 40 + b"\n", "é needle é\n".encode(), b"1:2:needle\n", b"-needle-3-\n",
]
PATTERNS = ["needle", "x", "return", "int", "fn", "^$", "e.*e", "\\d", "NEEDLE", "-n", "$", "é", "(?:x|y)\\(", "\\bx\\b", "needle\\(?x?"]
SECRET = "outside-secret"


def make_tree(rng: random.Random, root: Path) -> None:
    for _ in range(rng.randrange(1, 25)):
        path = root.joinpath(*(rng.choice(NAMES) for _ in range(rng.randrange(1, 4))))
        path = path.with_name(path.name + rng.choice(ENDINGS))
        if path.is_dir() or any(above.is_file() or above.is_symlink() for above in path.parents):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        # Many lines make a word frequent.
        text = b"".join(rng.choice(LINES) for _ in range(rng.randrange(15) if rng.random() < 0.97 else 900))
        if rng.random() < 0.05:
            text += b"\0\n"
        path.write_bytes(text if rng.random() < 0.9 else text.rstrip(b"\n"))
    if rng.random() < 0.3:
        (root / ".ignore").write_text(rng.choice(["a\n", "*.rs\n", "/a-b\n"]))
    (root / "link").symlink_to(root.parent / "outside")


class Server:
    def __init__(self, program: str, root: Path, flags: list[str], **options):
        command = [program, "mcp", "--structured", *flags, str(root)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.number = 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "hunt", "version": "1"}})
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def write(self, line: bytes) -> None:
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise SystemError(f"the server ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, method: str, params) -> dict:
        self.number += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}).encode() + b"\n")
        answer = self.answer()
        assert answer.get("id") == self.number, f"another id: {answer}"
        return answer

    def call(self, name: str, arguments) -> dict:
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def close(self) -> None:
        self.process.stdin.close()
        status = self.process.wait(timeout=20)
        assert status == 0, f"exit status {status}"


def pages(server: Server, rng: random.Random, name: str, arguments: dict) -> list[dict]:
    """The results of all pages, each with another limit."""
    results, cursor = [], None
    while True:
        limit, most = rng.choice([1, 2, 3, 7, 1000]), rng.choice([1500, 4000, 16_000])
        limits = {"max_bytes": most} if name == "read" else {"limit": limit, "max_bytes": most}
        answer = server.call(name, {**arguments, **limits, **({"cursor": cursor} if cursor else {})})
        result = answer.get("result")
        assert result and not result.get("isError"), f"an error: {answer}"
        assert SECRET not in json.dumps(answer), f"text from outside: {answer}"
        size = len(result["content"][0]["text"].encode())
        assert size <= most, f"{size} bytes with max_bytes {most}"
        page = result["structuredContent"]
        own = [entry for entry in page["results"] if not entry.get("context")]
        assert len(own) <= limit or name == "read", f"{len(own)} results with limit {limit}"
        assert not any("moved" in note for note in page["notes"]), page["notes"]
        results += page["results"]
        if page["cursor"] is None:
            return results
        assert page["cursor"] != cursor, f"the same cursor again: {cursor}"
        cursor = page["cursor"]


def run(command: list[str], root: Path) -> bytes:
    done = subprocess.run(command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True)
    is_expected = b"no files were searched" in done.stderr or b"unknown language" in done.stderr
    assert done.returncode in (0, 1) or is_expected, f"{command}: {done.stderr}"
    return done.stdout


def text_of(data: dict) -> bytes:
    return data["text"].encode() if "text" in data else base64.b64decode(data["bytes"])


def lossy(text: bytes) -> str:
    return text.decode(errors="replace")


def shown(line: bytes) -> bytes:
    line = line.removesuffix(b"\n")
    return line.removesuffix(b"\r")


def by_path(path: str) -> list[bytes]:
    return [os.fsencode(part) for part in path.split("/")]


def selection(rng: random.Random, root: Path) -> tuple[dict, list[str], list[str]]:
    """Random files, as arguments of a call and as flags and paths of a command."""
    arguments, flags, paths = {}, [], []
    if rng.random() < 0.3:
        arguments["globs"] = rng.choice([["*.rs"], ["!a"], ["*.py", "*.c"], "a*/**"])
        globs = arguments["globs"]
        flags += [f"--glob={glob}" for glob in ([globs] if isinstance(globs, str) else globs)]
    if rng.random() < 0.2:
        arguments["types"] = ["rust", "py"]
        flags += ["-trust", "-tpy"]
    for name, flag in [("hidden", "--hidden"), ("no_ignore", "--no-ignore")]:
        if rng.random() < 0.3:
            arguments[name] = True
            flags.append(flag)
    if rng.random() < 0.3:
        # In lines, a binary file that is named is a notice.
        is_binary = lambda path: path.is_file() and b"\0" in path.read_bytes()
        names = sorted(path.name for path in root.iterdir() if path.name != "link" and not is_binary(path))
        paths = names and [rng.choice(names)]
    if paths:
        arguments["paths"] = [rng.choice(["", "./", f"{root}/"]) + paths[0]]
    return arguments, flags, [f"./{path}" for path in paths]


def check_search(server: Server, rng: random.Random, comb: list[str], root: Path) -> str:
    arguments, flags, paths = selection(rng, root)
    arguments["pattern"] = rng.choice(PATTERNS)
    arguments["regex"] = rng.random() < 0.8
    flags += [] if arguments["regex"] else ["-F"]
    for name, flag in [("word", "-w"), ("multiline", "-U")]:
        if rng.random() < 0.2:
            arguments[name] = True
            flags.append(flag)
    if rng.random() < 0.2:
        arguments["record"] = rng.choice(["indent", "[a-z]"])
        flags.append(f"--record={arguments['record']}")
    case = rng.choice([None, "sensitive", "insensitive", "smart"])
    if case:
        arguments["case"] = case
        flags.append({"sensitive": "-s", "insensitive": "-i", "smart": "-S"}[case])
    arguments["context"] = rng.choice([0, 0, 1, 3])
    arguments["sort"] = rng.choice(["path", "relevance"])
    arguments["per_file"] = most = rng.choice([0, 0, 1, 4]) if arguments["sort"] == "relevance" else 0
    is_ranked = arguments["sort"] == "relevance" and "record" not in arguments
    command = [*comb, "grep", "--index=never", *flags, f"--regexp={arguments['pattern']}"]
    found = pages(server, rng, "search", arguments)
    expected = []
    for line in run([*command, "-n", "--json", f"-C{arguments['context']}", *paths], root).splitlines():
        message = json.loads(line)
        if message["type"] in ("match", "context"):
            data = message["data"]
            lines = text_of(data["lines"]).split(b"\n")
            lines = lines[:-1] if lines[-1] == b"" else lines
            path = lossy(text_of(data["path"])).removeprefix("./")
            for number, text in enumerate(lines or [b""]):
                is_context = message["type"] == "context" or number > 0 and "record" in arguments
                expected.append((path, data["line_number"] + number, is_context, lossy(shown(text))))
    got = [(entry["path"].removeprefix("./"), entry.get("line"), entry.get("context", False), entry["text"]) for entry in found if "line" in entry]
    if is_ranked and most:
        assert_ranked(got, expected, most, f"{arguments} {command}")
    elif most == 0:
        # Relevance decides nothing but the order.
        got, expected = (sorted(got), sorted(expected)) if is_ranked else (got, expected)
        assert is_same(got, expected), f"{arguments} {command}: {got}\nexpected {expected}"
    for output, flag in [("files", "-l"), ("count", "-cH")]:
        found = pages(server, rng, "search", {**arguments, "context": 0, "output": output})
        lines = run([*command, flag, "--null", *paths], root)
        got = [entry["path"].removeprefix("./") for entry in found]
        if output == "files":
            wanted = [lossy(path).removeprefix("./") for path in lines.split(b"\0")[:-1]]
        else:
            pairs = [line.split(b"\0") for line in lines.splitlines()]
            wanted = [lossy(path).removeprefix("./") for path, _ in pairs]
            assert [entry["count"] for entry in found] == [int(count) for _, count in pairs], f"{command} {flag}"
        if is_ranked and output == "files":
            got, wanted = sorted(got), sorted(wanted)
        assert got == wanted, f"{command} {flag}: {got}\nexpected {wanted}"
    return "search"


def is_same(got: list[tuple], expected: list[tuple]) -> bool:
    """Whether lines are those that were expected, some of them cut."""
    return len(got) == len(expected) and all(
        one[:3] == two[:3] and (one[3] == two[3] or "…" in one[3] and one[3].strip("…") in two[3]) for one, two in zip(got, expected)
    )


def assert_ranked(got: list[tuple], expected: list[tuple], most: int, call: str) -> None:
    """Each file has as many results as are listed of it, and no line twice. Whole words and others are counted apart if the word is frequent."""
    places = [(path, line) for path, line, *_ in got]
    assert len(set(places)) == len(places), f"{call}: a line is there twice: {got}"
    assert set(places) <= {(path, line) for path, line, *_ in expected}, f"{call}: {got}\nexpected {expected}"
    for path in {path for path, *_ in expected}:
        listed, all_of_it = (sum(1 for entry in lines if entry[0] == path and not entry[2]) for lines in (got, expected))
        assert min(most, all_of_it) <= listed <= 2 * most, f"{call}: {listed} of {all_of_it} in {path}: {got}"


def check_files(server: Server, rng: random.Random, comb: list[str], root: Path) -> str:
    arguments, flags, paths = selection(rng, root)
    if rng.random() < 0.3:
        arguments["name"] = "a|x"
        flags.append("-Ga|x")
    got = [entry["path"].removeprefix("./") for entry in pages(server, rng, "files", arguments)]
    lines = run([*comb, "grep", "--index=never", "--files", "--null", *flags, *(paths or ["./"])], root)
    wanted = [lossy(path).removeprefix("./") for path in lines.split(b"\0")[:-1]]
    if "name" not in arguments:
        assert got == wanted, f"{flags} {paths}: {got}\nexpected {wanted}"
    assert got == sorted(got, key=by_path), f"order: {got}"
    return "files"


def check_symbols(server: Server, rng: random.Random, comb: list[str], root: Path) -> str:
    arguments, flags, paths = selection(rng, root)
    arguments["list"] = rng.choice(["definitions", "references", "outline"])
    name = rng.choice([None, "x", "needle", "^n"]) if arguments["list"] != "references" else rng.choice(["x", "needle"])
    if name:
        arguments["name"] = name
        flags += ["-r" if arguments["list"] == "references" else "-d", name]
    found = pages(server, rng, "symbols", arguments)
    lines = run([*comb, "symbols", "--index=never", "--json", *flags, *paths], root).splitlines()
    wanted = [(symbol["path"].removeprefix("./"), symbol["line"]) for symbol in map(json.loads, lines)]
    got = [(entry["path"].removeprefix("./"), entry["line"]) for entry in found]
    assert got == wanted, f"{flags} {paths}: {got}\nexpected {wanted}"
    return "symbols"


def check_read(server: Server, rng: random.Random, comb: list[str], root: Path) -> str:
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    if not files:
        return "read"
    path = rng.choice(files)
    text = path.read_bytes()
    if b"\0" in text:
        answer = server.call("read", {"path": str(path)})
        # The beginning of a longer file is shown.
        assert answer["result"]["isError"] or len(text) > 4000, answer
        return "read"
    lines = text.split(b"\n")
    lines = lines[:-1] if lines[-1] == b"" else lines
    first = rng.randrange(1, len(lines) + 3)
    last = rng.choice([None, first + rng.randrange(5)])
    arguments = {"path": str(path), "from": first, **({"to": last} if last else {})}
    got = [(entry["line"], entry["text"]) for entry in pages(server, rng, "read", arguments)]
    wanted = [(number, lossy(shown(line))) for number, line in enumerate(lines, 1) if first <= number <= (last or number)]
    assert [line for line, _ in got] == [line for line, _ in wanted], f"{arguments}: {got}\nexpected {wanted}"
    assert all(one == two or one.endswith("…") and two.startswith(one[:-1]) for (_, one), (_, two) in zip(got, wanted)), f"{arguments}: {got}\nexpected {wanted}"
    return "read"


def check_paths(server: Server, rng: random.Random, comb: list[str], root: Path) -> str:
    outside = root.parent / "outside"
    path = rng.choice(["link", "link/secret", "..", "/", str(outside), f"{outside}/secret", "../outside/secret", "../none", "link/none", "a/../../outside"])
    name, key = rng.choice([("search", "paths"), ("files", "paths"), ("symbols", "paths"), ("top", "paths"), ("find", "index"), ("read", "path")])
    answer = server.call(name, {key: path, "pattern": "x"} if name in ("search", "find") else {key: path})
    # Without the directory a, the path leads nowhere.
    reason = "outside of the roots" if (root / "a").is_dir() or not path.startswith("a/") else path
    assert answer["result"]["isError"] and reason in json.dumps(answer), f"{name} {path}: {answer}"
    return "paths"


def random_value(rng: random.Random, depth: int = 0):
    kinds = [None, True, -1, 0, 3, 1e300, 2**64, "", "x", "é\0", "-x", "--json", "@", "a:1@", "%", "(", "[", "a" * 500]
    if depth < 3 and rng.random() < 0.3:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(3))]
    return rng.choice(kinds)


def check_malformed(server: Server, rng: random.Random, comb: list[str], root: Path) -> str:
    if rng.random() < 0.5:
        line = rng.choice([b"{", b"[]", b"7", b'""', b"null", b"\xff\xff", b"[" * 500, b'{"id":1}', b"x" * 70_000, b'{"jsonrpc":"2.0","id":null,"method":"ping"}'])
        server.write(line + b"\n")
        assert "error" in server.answer(), line
        return "malformed"
    members = ["pattern", "paths", "globs", "types", "limit", "cursor", "context", "case", "output", "name", "list", "kinds", "index", "fields", "where", "every", "sum"]
    name = rng.choice(["search", "files", "symbols", "find", "top", "read", "status"])
    arguments = {member: random_value(rng) for member in rng.sample(members, rng.randrange(6))}
    answer = server.call(name, rng.choice([arguments, arguments, arguments, random_value(rng)]))
    assert "result" in answer or "error" in answer, answer
    assert SECRET not in json.dumps(answer), answer
    return "malformed"


CHECKS = [check_search, check_search, check_files, check_symbols, check_read, check_paths, check_malformed]


def one_run(number: int, options: argparse.Namespace) -> str | None:
    rng = random.Random(f"{options.seed} {number}")
    directory = Path(tempfile.mkdtemp(prefix="hunt-mcp-"))
    root, outside = directory / "root", directory / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "secret").write_text(f"needle x {SECRET}\n")
    make_tree(rng, root)
    flags = rng.choice([[], ["--threads", "1"], ["--max-output", "1K"], ["--max-columns", "20"]]) + ["--index=never", "--max-request", "64K"]
    check = None
    try:
        server = Server(options.comb, root, flags)
        for _ in range(options.per_run):
            check = rng.choice(CHECKS)
            check(server, rng, [options.comb], root)
        server.close()
    except (AssertionError, SystemError, KeyError, ValueError, subprocess.TimeoutExpired) as fault:
        return f"run {number}, {check and check.__name__}, {directory}: {type(fault).__name__}: {fault}"
    shutil.rmtree(directory)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--per-run", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    options.comb = str(Path(options.comb).resolve())
    print(f"seed {options.seed}")
    numbers = range(options.runs) if options.only is None else [options.only]
    faults = [fault for fault in (one_run(number, options) for number in numbers) if fault]
    print("\n".join(faults[:20]))
    print(f"{len(numbers) * options.per_run} calls, {len(faults)} runs with faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
