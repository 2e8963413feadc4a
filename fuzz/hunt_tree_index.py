#!/usr/bin/env python3
"""Fuzzing of `comb grep` and `comb symbols` with an index of the tree, against the same with `--index=never`: the same output, messages and exit status.

    fuzz/hunt_tree_index.py [--comb PROGRAM] [--steps N] [--seed N] [--jobs N] [--folder FOLDER] [--keep FOLDER]

Each step changes a tree of files as programs and people do: it writes, appends, truncates, renames, links and removes files and directories, edits
them without a new size or a new modification time, stores to maps of them, writes through links from outside, and changes rules that decide which files
count. Now and then the index is built again or updated, also while files change, and its own files are damaged. After every step, random
searches run with the index and without. With --watch, `comb index watch` runs, and is killed and started again now and then. With --mcp, it is
`comb mcp` that watches, and its answers are compared with those of another one without an index.

The file system of --folder must be one that indexes trust, such as ext4: elsewhere nothing is tested. The number of files that
were not read, thanks to the index, is printed at the end.
"""

import argparse
import gzip
import json
import mmap
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from hunt_mcp import Server

WORDS = ["needle", "Needle", "NEEDLE", "need", "dle", "hay", "stack", "pm", "PM_RESUME", "xpmx", "a", "é", "ſtack", "K", "foo(bar)", "foo", "bar"]
NAMES = ["a", "b", "c.c", "d.h", "e.txt", "f.log", ".hidden", "g g", "ü", "x\ny", "z.gz", "long-name.c"]
GLOBS = ["*.c", "*.h", "!c.c", "/a", "b/", "*", "!*", "d?", "[ce].*", "**/a", "# note", "", "g\\ g", "e.{txt,h}", "x[", ".*"]
RULES = [".gitignore", ".ignore", ".rgignore"]
PATTERNS = ["needle", "nee", "ne", "n", "need.*dle", "needle|hay", "(hay)?stack", "[nN]eedle", "ee+d", r"\bpm\b", "pm", r"^hay", r"stack$", "foo(bar)",
            r"foo\(bar\)", "", ".", "xyzzy", r"\w+", "[A-Z]+_RESUME", "é", "stack", "k", "hay stack", "a{3}", "(?i:needle)", r"\d", "needle.needle", r"(needle|stack)\nhay", r"y\nn", r"x\nx"]
FLAGS = [[], [], ["-n"], ["-c"], ["-l"], ["--files-without-match"], ["-i"], ["-S"], ["-w"], ["-x"], ["-v"], ["-F"], ["-o"], ["-q"], ["-m1"], ["-C1"],
         ["-a"], ["--binary"], ["-z"], ["-U"], ["-U", "--multiline-dotall"], ["--null-data"], ["--crlf"], ["--include-zero", "-c"], ["--json"],
         ["--stats"], ["-u"], ["-uu"], ["-uuu"], ["--hidden"], ["--no-ignore"], ["-g", "*.c"], ["-g", "!a"], ["-tc"], ["-L"], ["--sort", "modified"],
         ["--sortr", "path"], ["--max-filesize", "1K"], ["--max-depth", "2"], ["-E", "utf-16le"], ["-E", "none"], ["--max-line", "60"], ["-P"],
         ["--passthru"], ["--no-unicode"], ["--no-ignore-vcs"], ["--one-file-system"], ["--heading"], ["--count-matches"],
         ["--pre", "{upper}"], ["--pre", "{upper}", "--pre-glob", "*.c"], ["--pre", "/nowhere/program"], ["-z", "--pre="]]
CONDITIONS = ["--and", "--not", "--file-and", "--file-not"]
# Times of changes: files that were touched are older than 2002, all others newer than an hour.
TIMES_OF_CHANGE = ["1h", "2002-01-01", "1985-06-01", "1990-01-01T12:00:00"]
SYMBOLS = [["-r", "needle"], ["-d", "need"], ["-d", "ne+d.*"], ["-r", "PM_RESUME", "--json"], ["-r", "pm", "-d", "foo"], ["-d", "a"], [], ["--stats", "-r", "hay"],
           ["-r", "foo", "--hidden"], ["-r", "stack", "--no-ignore"], ["-r", "needle", "-g", "!a"]]
# Arguments of calls of `comb mcp`.
CALLS = [{}, {}, {"word": True}, {"case": "insensitive"}, {"case": "smart"}, {"context": 1}, {"output": "files"}, {"output": "count"}, {"hidden": True},
         {"no_ignore": True}, {"hidden": True, "no_ignore": True}, {"globs": ["*.c"]}, {"globs": "!a"}, {"types": ["c"]}, {"multiline": True}, {"limit": 3}]
# A text that takes a while to search, so that a server finds a watch worth its while.
SLOW_TEXT = b"ab ab\n" * 1_500_000
TIMES = re.compile(rb'("(?:elapsed|elapsed_total)":\{[^}]*\})|^[0-9.]+ seconds.*$', re.M)
INDEX_STATISTICS = re.compile(rb"^(\d+ files checked against the index|\d+ files changed since it was built|\d+ candidates by the index"
                              rb"|\d+ files not in the index|\d+ files read|index not used: .*)\n", re.M)


class Tree:
    """A tree of files, and what is done to it."""

    def __init__(self, rng: random.Random, root: Path, comb: str, is_watched: bool, has_server: bool):
        self.rng, self.root, self.comb = rng, root / "tree", comb
        self.outside, self.home, self.runtime = root / "outside", root / "home", root / "run"
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(self.runtime)}
        self.is_watched, self.watch, self.answers = is_watched or has_server, None, 0
        self.has_server, self.server, self.reference = has_server, None, None
        self.maps: list[mmap.mmap] = []
        self.builds: list[subprocess.Popen] = []
        for folder in (self.root, self.outside, self.home, self.runtime):
            folder.mkdir(parents=True)
        # A preprocessor, which fails for some files.
        self.upper = root / "upper"
        self.upper.write_text("#!/bin/sh\ntr a-z A-Z\ncase $1 in *.h) echo broken >&2; exit 3;; esac\n")
        self.upper.chmod(0o755)
        for _ in range(12):
            self.write_new()

    # What a file holds.
    def text(self) -> bytes:
        rng = self.rng
        kind = rng.random()
        words = rng.choice([1, 3, 10, 40, 200])
        text = "".join(rng.choice(WORDS) + rng.choice([" ", " ", "\n", "\n", "_", ".", "\r\n", ""]) for _ in range(rng.randrange(words + 1))).encode()
        if kind < 0.02:
            return "\ufeff".encode("utf-16le") + text.decode().encode("utf-16le")
        if kind < 0.04:
            return b"\xef\xbb\xbf" + text
        if kind < 0.07:
            at = rng.randrange(len(text) + 1)
            return text[:at] + b"\0" + text[at:]
        if kind < 0.09:
            return gzip.compress(text)
        if kind < 0.11:
            line = rng.choice(["hay\n", "x" * 99 + "\n", "stack", "y"])
            filler = (line * (rng.randrange(150_000) // len(line) + 1)).encode()
            return text + filler + text + (filler[: rng.randrange(70_000)] + text if rng.random() < 0.5 else b"")
        if kind < 0.14:
            # Several parts, so that a search reads only some.
            filler = "".join(f"hay {number}\n" for number in range(rng.randrange(1, 40_000))).encode()
            cuts = sorted(rng.randrange(len(filler)) for _ in range(rng.randrange(3)))
            return text[:20].join(filler[start:end] for start, end in zip([0, *cuts], [*cuts, len(filler)]))
        if kind < 0.17:
            return bytes(rng.randrange(256) for _ in range(rng.randrange(300))) + text
        return text

    def directories(self) -> list[Path]:
        return [Path(folder) for folder, _, _ in os.walk(self.root)]

    def files(self) -> list[Path]:
        found = [Path(folder) / name for folder, _, names in os.walk(self.root) for name in names]
        return [path for path in found if not path.is_symlink() and path.is_file()]

    def path(self) -> Path:
        return self.rng.choice(self.directories()) / self.rng.choice(NAMES)

    def file(self) -> Path:
        files = self.files()
        return self.rng.choice(files) if files else self.write_new()

    # What happens to files.
    def write_new(self) -> Path:
        path = self.path()
        if path.is_dir() and not path.is_symlink():
            path = path / "within"
        if path.is_symlink():
            path.unlink()
        path.write_bytes(self.text())
        return path

    def append(self) -> None:
        with open(self.file(), "ab") as file:
            file.write(self.text())

    def truncate(self) -> None:
        path = self.file()
        os.truncate(path, self.rng.randrange(path.stat().st_size + 1))

    def edit_alike(self) -> None:
        """Changes some bytes, and neither size nor modification time."""
        path = self.file()
        status, data = path.stat(), bytearray(path.read_bytes())
        if not data:
            return
        word = self.rng.choice(WORDS).encode()[: len(data)]
        at = self.rng.randrange(len(data) - len(word) + 1)
        with open(path, "r+b") as file:
            file.seek(at)
            file.write(word)
        if self.rng.random() < 0.8:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def replace(self) -> None:
        path, new = self.file(), self.root / ".new"
        status = path.stat()
        new.write_bytes(self.text())
        if self.rng.random() < 0.5:
            os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
        os.replace(new, path)

    def touch(self) -> None:
        past = self.rng.randrange(10**18)
        os.utime(self.file(), ns=(past, past))

    def rename(self) -> None:
        source, target = self.file(), self.path()
        if not target.is_dir():
            os.replace(source, target)

    def swap(self) -> None:
        one, other, between = self.file(), self.file(), self.root / ".between"
        if one != other:
            os.rename(one, between)
            os.rename(other, one)
            os.rename(between, other)

    def make_directory(self) -> None:
        path = self.path()
        if not path.exists() and not path.is_symlink() and len(path.parts) - len(self.root.parts) < 5:
            path.mkdir()
            (path / self.rng.choice(NAMES)).write_bytes(self.text())

    def rename_directory(self) -> None:
        source, target = self.rng.choice(self.directories()), self.path()
        if source != self.root and not target.exists() and not target.is_symlink() and source not in target.parents:
            os.rename(source, target)

    def remove(self) -> None:
        self.file().unlink()

    def remove_directory(self) -> None:
        path = self.rng.choice(self.directories())
        if path != self.root and self.rng.random() < 0.3:
            shutil.rmtree(path)

    def link(self) -> None:
        target = self.path()
        if not target.exists() and not target.is_symlink():
            os.link(self.file(), target)

    def link_outside(self) -> None:
        target = self.outside / f"{self.rng.randrange(10)}"
        target.unlink(missing_ok=True)
        os.link(self.file(), target)

    def write_outside(self) -> None:
        for path in self.outside.iterdir():
            if self.rng.random() < 0.5:
                with open(path, self.rng.choice(["r+b", "ab", "wb"])) as file:
                    file.write(self.text())

    def symlink(self) -> None:
        target = self.path()
        if not target.exists() and not target.is_symlink():
            target.symlink_to(self.rng.choice(["a", "../a", "..", "nowhere", str(self.outside), str(self.root / "c.c")]))

    def map(self) -> None:
        """Maps a file to be written, and keeps it mapped."""
        path = self.file()
        if path.stat().st_size:
            with open(path, "r+b") as file:
                self.maps.append(mmap.mmap(file.fileno(), 0))
        self.store()

    def store(self) -> None:
        """Stores to files that are mapped; some of them may be gone, or shorter."""
        for map in self.maps:
            word = self.rng.choice(WORDS).encode()
            at = self.rng.randrange(max(1, min(len(map), map.size()) - len(word) + 1)) if map.size() else None
            if at is not None and at + len(word) <= min(len(map), map.size()):
                map[at : at + len(word)] = word

    def unmap(self) -> None:
        if self.maps:
            self.maps.pop(self.rng.randrange(len(self.maps))).close()

    def permit(self) -> None:
        self.file().chmod(self.rng.choice([0o000, 0o644, 0o755]))

    def rule(self) -> None:
        path = self.rng.choice(self.directories()) / self.rng.choice(RULES)
        if path.is_dir() or path.is_symlink():
            return
        if self.rng.random() < 0.4:
            path.unlink(missing_ok=True)
        else:
            path.write_text("\n".join(self.rng.choice(GLOBS) for _ in range(self.rng.randrange(3))) + "\n")

    def repository(self) -> None:
        path = self.rng.choice(self.directories()) / ".git"
        if path.is_symlink() or path.is_file():
            return
        if path.exists() and self.rng.random() < 0.5:
            shutil.rmtree(path)
        else:
            (path / "info").mkdir(parents=True, exist_ok=True)
            (path / "info" / "exclude").write_text(self.rng.choice(GLOBS) + "\n")

    # What happens to the index.
    def index(self, *arguments: str) -> list[str]:
        return [self.comb, "index", *arguments, "--index-dir", str(self.home)]

    def build(self) -> None:
        self.await_builds()
        if self.rng.random() < 0.5:
            time.sleep(0.03)
        root = self.rng.choice(self.directories()) if self.rng.random() < 0.1 else self.root
        self.write_index("build", root)

    def update(self) -> None:
        self.await_builds()
        if self.rng.random() < 0.5:
            time.sleep(0.03)
        self.write_index("update", self.root)

    def write_index(self, action: str, root: Path) -> None:
        done = subprocess.run(self.index(action, str(root), "-j", self.rng.choice("123")), capture_output=True)
        if done.returncode not in (0, 2) or b"panicked" in done.stderr:
            raise Fault(f"{action}: {done.returncode} {done.stderr[-400:]}")

    def build_meanwhile(self) -> None:
        """Builds or updates while files change."""
        self.await_builds()
        command = self.index(self.rng.choice(["build", "update"]), str(self.root))
        self.builds = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(self.rng.choice([1, 1, 2]))]
        end = time.monotonic() + self.rng.random() * 0.08
        while time.monotonic() < end:
            self.change()
            if self.rng.random() < 0.3:
                time.sleep(0.002)
        if self.rng.random() < 0.1:
            self.builds[0].kill()

    def start_watch(self) -> None:
        if self.server and "watched, " not in self.status():
            # The index was dropped.
            self.end_watch()
        if self.is_watched and (self.watch is None or self.watch.poll() is not None):
            with open(self.runtime / "errors", "ab") as errors:
                if self.has_server:
                    self.start_server(errors)
                else:
                    self.watch = subprocess.Popen(self.index("watch", str(self.root)), stdout=errors, stderr=errors, env=self.environment)

    def start_server(self, errors) -> None:
        """Starts a server, and keeps it busy until it watches."""
        self.server = Server(self.comb, self.root, ["--index-dir", str(self.home)], stderr=errors, env=self.environment)
        self.watch = self.server.process
        slow = self.root / "slow"
        slow.write_bytes(SLOW_TEXT)
        end = time.monotonic() + 20
        while "watched, " not in (status := self.status()):
            self.server.call("search", {"pattern": "[a-y]b", "regex": True, "output": "count", "no_ignore": True})
            if time.monotonic() > end:
                raise Fault(f"no watch: {status}")
        slow.unlink()

    def status(self) -> str:
        return self.server.call("status", {})["result"]["content"][0]["text"]

    def end_watch(self) -> None:
        """Ends the watch in one way or the other."""
        if self.watch is None:
            return
        told = subprocess.run(self.index("info", str(self.root), "--json"), capture_output=True, env=self.environment).stdout
        self.answers += ((json.loads(told) if told else {}).get("watch") or {}).get("answers", 0)
        if self.rng.random() < 0.5:
            self.watch.terminate()
        else:
            self.watch.kill()
        self.watch.wait()
        self.watch = self.server = None
        if b"panicked" in (self.runtime / "errors").read_bytes():
            raise Fault(f"watch: {(self.runtime / 'errors').read_bytes()!r}")

    def rest(self) -> None:
        """Gives a watch the time to prove what has changed, or even to update the index."""
        self.start_watch()
        time.sleep(self.rng.choice([0.02, 0.1, 0.1, 0.6]) if self.is_watched else 0)

    def restart(self) -> None:
        if self.rng.random() < 0.2:
            self.end_watch()
        self.start_watch()

    def await_builds(self) -> None:
        for build in self.builds:
            build.wait()
        self.builds = []

    def damage(self) -> None:
        files = [path for path in self.home.rglob("*") if path.is_file() and path.stat().st_size]
        if not files:
            return
        path = self.rng.choice(files)
        kind, size = self.rng.random(), path.stat().st_size
        if kind < 0.6:
            with open(path, "r+b") as file:
                file.seek(self.rng.randrange(size))
                file.write(bytes([self.rng.randrange(256)]))
        elif kind < 0.8:
            os.truncate(path, self.rng.randrange(size))
        else:
            path.unlink()

    def drop(self) -> None:
        self.await_builds()
        subprocess.run(self.index("drop", str(self.root)), capture_output=True)

    CHANGES = [(write_new, 6), (append, 6), (truncate, 2), (edit_alike, 6), (replace, 4), (touch, 2), (rename, 3), (swap, 2), (make_directory, 3),
               (rename_directory, 2), (remove, 3), (remove_directory, 2), (link, 1), (link_outside, 2), (write_outside, 4), (symlink, 1), (map, 2),
               (store, 4), (unmap, 3), (permit, 1), (rule, 3), (repository, 1)]
    ON_INDEX = [(rest, 15), (restart, 3), (build, 5), (update, 10), (build_meanwhile, 3), (damage, 1), (drop, 1)]

    def change(self) -> str:
        actions, weights = zip(*self.CHANGES)
        action = self.rng.choices(actions, weights)[0]
        try:
            action(self)
        except FileNotFoundError:
            pass
        if len(self.files()) > 60:
            shutil.rmtree(self.rng.choice(self.directories()[1:] or [self.outside]))
            self.outside.mkdir(exist_ok=True)
        return action.__name__

    def act(self) -> str:
        if self.rng.random() < 0.2:
            actions, weights = zip(*self.ON_INDEX)
            action = self.rng.choices(actions, weights)[0]
            action(self)
            return action.__name__
        return self.change()

    # Searches.
    def command(self) -> tuple[list[str], Path]:
        rng = self.rng
        flags = rng.choice(FLAGS) + (rng.choice(FLAGS) if rng.random() < 0.3 else [])
        flags = [flag.replace("{upper}", str(self.upper)) for flag in flags]
        if rng.random() < 0.3:
            flags += [argument for _ in range(rng.choice([1, 1, 2])) for argument in (rng.choice(CONDITIONS), rng.choice(PATTERNS))]
        if rng.random() < 0.2:
            # A time that does not pass between two searches.
            own = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(self.file().stat().st_mtime))
            flags += [rng.choice(["--changed-within", "--changed-before"]), rng.choice([own, *TIMES_OF_CHANGE])]
        patterns = [] if rng.random() < 0.1 else rng.sample(PATTERNS, rng.choice([1, 1, 1, 2, 3]))
        arguments = [*flags, "-j", rng.choice("123")]
        arguments += [argument for pattern in patterns for argument in ("-e", pattern)] or ["--files"]
        folder = rng.choice(self.directories()) if rng.random() < 0.3 else self.root
        if rng.random() < 0.3:
            arguments += [str(rng.choice(self.directories() + self.files())) for _ in range(rng.choice([1, 2]))]
        if rng.random() < 0.1:
            arguments += ["."]
        return arguments, folder

    def check(self) -> int:
        """Compares a search with the index and without. Returns the number of files that were compared with the index, if that was shown."""
        kind = self.rng.random()
        if kind < 0.8:
            name, (arguments, folder) = "grep", self.command()
        elif kind < 0.9:
            name, arguments, folder = "grep", ["--stats", "-e", self.rng.choice(PATTERNS)], self.root
        else:
            name, arguments, folder = "symbols", self.rng.choice(SYMBOLS), self.rng.choice(self.directories())
        omitted = 0
        answers = []
        for when in ("auto", "never"):
            command = [self.comb, name, *arguments, "--index", when, "--index-dir", str(self.home)]
            command += ["--index-update"] if when == "auto" and self.rng.random() < 0.1 else []
            done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, env=self.environment)
            out = TIMES.sub(b"", done.stdout)
            checked = re.search(rb"^(\d+) files checked", out, re.M)
            omitted += int(checked[1]) if checked else 0
            if when == "auto" and done.stderr.startswith(b"comb: " + str(self.home).encode()):
                raise Fault(f"{name} {arguments} in {folder}: {done.stderr!r}")
            # A search that ends at the first match may have met other files before or not.
            messages = b"" if "-q" in arguments else done.stderr
            answers.append((INDEX_STATISTICS.sub(b"", out), messages, done.returncode))
        if answers[0] != answers[1]:
            raise Fault(f"{name} {arguments} in {folder}:\n  with    {answers[0]!r}\n  without {answers[1]!r}")
        return omitted

    def check_server(self) -> None:
        """Compares a call of the server that watches with the same call of one without an index."""
        if self.reference is None:
            self.reference = Server(self.comb, self.root, ["--index=never"])
        rng = self.rng
        kind, arguments = rng.random(), {}
        if rng.random() < 0.3:
            arguments["paths"] = [str(rng.choice(self.directories() + self.files()))]
        if kind < 0.8:
            arguments |= {"pattern": rng.choice(PATTERNS), "regex": True, **rng.choice(CALLS), **(rng.choice(CALLS) if rng.random() < 0.3 else {})}
            # By relevance, what is listed of a frequent word depends on whether the tree is watched; hunt_mcp.py compares its pages.
            arguments["sort"] = "path"
        elif kind < 0.9:
            arguments |= {"name": rng.choice(["need", "^n", "foo", "pm", "a"])}
        name = "search" if kind < 0.8 else "symbols" if kind < 0.9 else "files"
        found, expected = ([result.get("structuredContent", result)] for server in (self.server, self.reference) for result in [server.call(name, arguments)["result"]])
        if found != expected:
            raise Fault(f"{name} {arguments}:\n  with    {found}\n  without {expected}")

    def end(self) -> None:
        self.await_builds()
        self.end_watch()
        if self.reference:
            self.reference.close()


class Fault(Exception):
    """A difference between a search with the index and one without."""


def hunt(seed: int, steps: int, comb: str, folder: str | None, keep: str | None, is_watched: bool, has_server: bool) -> tuple[int, int, int, str | None]:
    """Runs some steps on a tree of their own. Returns the number of steps, of files that statistics show as omitted, and of answers of watches, and the fault."""
    root = Path(tempfile.mkdtemp(prefix="hunt-tree-", dir=folder))
    tree = Tree(random.Random(seed), root, comb, is_watched, has_server)
    done, omitted, actions, fault = 0, 0, [], None
    try:
        tree.build()
        tree.start_watch()
        for done in range(1, steps + 1):
            actions.append(tree.act())
            for _ in range(tree.rng.choice([1, 1, 2])):
                omitted += tree.check()
                if tree.server:
                    tree.check_server()
    except Fault as error:
        fault = f"seed {seed}, step {done}, after {actions[-8:]}: {error}"
        if keep:
            shutil.copytree(root, Path(keep) / f"seed-{seed}", symlinks=True, ignore=shutil.ignore_patterns("run"))
    finally:
        tree.end()
        shutil.rmtree(root, ignore_errors=True)
    return done, omitted, tree.answers, fault


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--comb", default=str(root / "target/release/comb"), help="path of comb")
    parser.add_argument("--steps", type=int, default=100_000, help="number of steps (default: 100,000)")
    parser.add_argument("--each", type=int, default=100, help="steps on a tree before a new one (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="first seed (default: 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of processes")
    parser.add_argument("--watch", action="store_true", help="also run comb index watch")
    parser.add_argument("--mcp", action="store_true", help="also run comb mcp, which watches")
    parser.add_argument("--folder", help="directory for the trees (default: the temporary directory)")
    parser.add_argument("--keep", help="directory for trees with a fault")
    options = parser.parse_args()
    trees = -(-options.steps // options.each)
    with ProcessPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(hunt, options.seed + number, options.each, os.path.abspath(options.comb), options.folder, options.keep, options.watch, options.mcp)
                   for number in range(trees)]
        steps = omitted = answers = faults = 0
        for future in futures:
            done, without, answered, fault = future.result()
            steps, omitted, answers, faults = steps + done, omitted + without, answers + answered, faults + (fault is not None)
            if fault:
                print(fault, flush=True)
    print(f"{steps:,} steps on {trees:,} trees, {faults} faults; searches with --stats checked {omitted:,} files instead of reading them, "
          f"watches answered {answers:,} searches")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
