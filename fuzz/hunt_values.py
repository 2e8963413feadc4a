#!/usr/bin/env python3
"""Fuzzing of `comb top` on many values, whose percentiles and distinct counts are estimates, and on keys with `--normalize`.

    fuzz/hunt_values.py [--comb PROGRAM] [--runs N] [--seed N] [--keep FOLDER]

Up to 1024 values of a key, percentiles must be exact, beyond that at most 2^-8 off, and between the smallest and the largest value. Up to
4096 distinct values must be counted exactly, beyond that to six standard errors. Placeholders must equal an oracle's by regular
expressions. The bytes must be the same at another width and block size, and with the records in another order.
"""

import argparse
import ipaddress
import json
import random
import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

UNITS = {"": Fraction(1), "ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600)}
WIDTHS = [["-j1"], ["-j7", "--block-size", "100"], ["-j3", "--block-size", "4K"], ["-j64", "--block-size", "999"], []]


def answer(comb: str, flags: list[str], path: Path) -> tuple[int, bytes, bytes]:
    done = subprocess.run([comb, "top", *flags, str(path)], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


# Percentiles and distinct counts


def values(rng: random.Random, count: int) -> list[tuple[str, Fraction]]:
    """Values as texts and numbers, of one of several distributions."""
    kind = rng.choice(["integers", "decimals", "times", "wide", "few", "signed", "near"])
    made = []
    middle = rng.randrange(10**17)
    for _ in range(count):
        unit = ""
        if kind == "integers":
            text = str(int(rng.lognormvariate(8, 2)))
        elif kind == "decimals":
            text = f"{rng.lognormvariate(0, 1):.3f}"
        elif kind == "times":
            unit = rng.choice(["us", "ms", "s"])
            text = f"{rng.lognormvariate(3, 1):.2f}"
        elif kind == "wide":
            text = str(rng.randrange(10 ** rng.randrange(1, 20))) + rng.choice(["", ".5", ".000000000000000001"])
        elif kind == "few":
            text = rng.choice(["0", "1", "255", "256", "257", "1e3"])
        elif kind == "signed":
            text = str(rng.randrange(-100_000, 100_000))
        else:
            text = str(middle + rng.randrange(1000))
        made.append((text + unit, Fraction(text) * UNITS[unit]))
    return made


def check_values(comb: str, path: Path, rng: random.Random) -> tuple[list[str], str] | None:
    groups = rng.choice([1, 2, 5])
    texts = values(rng, rng.choice([10, 1000, 1024, 1025, 1500, 5000, 20_000]))
    if rng.random() < 0.2:  # More in one file than a list holds, of another kind.
        texts += values(rng, 1200)
    # Numbers without a unit are left out if others have one, or have a unit by --unit.
    unit = rng.choice(["ns", "ms", "s", "m"]) if rng.random() < 0.2 else None
    if unit:
        # Numbers have 18 decimal places.
        rounded = lambda value: Fraction(round(value * UNITS[unit] * 10**18), 10**18)
        texts = [(text, value if text[-1:].isalpha() else rounded(value)) for text, value in texts]
    have_units = not unit and any(text[-1:].isalpha() for text, _ in texts)
    rows = [(f"g{rng.randrange(groups)}", text, value, rng.randrange(rng.choice([3, 5000, 50_000]))) for text, value in texts]
    # Numbers have 20 digits before the point, in seconds.
    is_measured = lambda row: abs(row[2]) < 10**20 and (not have_units or row[1][-1:].isalpha())
    percentiles = rng.sample(["0", "0.1", "1", "12.5", "25", "50", "75", "90", "95", "99", "99.9", "100"], 3)
    flags = ["--input", "logfmt", "-n", "all", "-f", "g", "--format", "json", "--min", "v", "--max", "v", "--sum", "v", "--distinct", "d"]
    for percentile in percentiles:
        flags += ["--percentile", f"{percentile}:v"]
    flags += ["--unit", f"v={unit}"] if unit else []
    write = lambda rows: path.write_text("".join(f"g={group} v={text} d=d{number}\n" for group, text, _, number in rows))
    write(rows)
    widths = rng.sample(WIDTHS, 2)
    found = answer(comb, [*widths[0], *flags], path)
    if is_shuffled := rng.random() < 0.5:
        rng.shuffle(rows)
        write(rows)
    other = answer(comb, [*widths[1], *flags], path)
    # The first number that is left out is another one then.
    if found[:2] != other[:2] or found[2] != other[2] and not is_shuffled or found[0] != 0:
        return flags, f"{widths}: {found!r:.500} and {other!r:.500}"
    top = {entry["key"]: list(entry.values()) for entry in json.loads(found[1], parse_float=str, parse_int=str)["top"]}
    for group in {row[0] for row in rows}:
        fault = check_group([row for row in rows if row[0] == group], is_measured, top[group], percentiles)
        if fault:
            return flags, f"{group}: {fault}"
    return None


def check_group(rows: list, is_measured, found: list, percentiles: list[str]) -> str | None:
    values, texts = sorted(row[2] for row in rows if is_measured(row)), {row[3] for row in rows}
    if not values:
        return None if found[1] == found[2] == found[3] == None else f"{found} without values"
    count, low, high, total, distinct, *found_percentiles = map(Fraction, found[:-1])
    if (count, low, high, total) != (len(rows), values[0], values[-1], sum(values)):
        return f"{found} instead of {len(rows)} {values[0]} {values[-1]} {sum(values)}"
    if distinct != len(texts) and (len(texts) <= 4096 or abs(distinct - len(texts)) > len(texts) * Fraction(6 * 8, 1000)):
        return f"distinct {distinct} instead of {len(texts)}"
    for percentile, value in zip(percentiles, found_percentiles, strict=True):
        rank = Fraction(percentile) / 100 * len(values)
        exact = values[max(1, -(-rank.numerator // rank.denominator)) - 1]
        off = abs(value - exact)
        if off and (len(values) <= 1024 or off > abs(exact) / 256) or not low <= value <= high:
            return f"percentile {percentile}: {float(value)} instead of {float(exact)} of {len(values)}"
    return None


# Placeholders

# Times in forms that --every finds in lines, and times of day.
TIMES = ["2026-03-01 06:20:09", "2026-03-01T06:20:09.25Z", "2026/03/01 06:20:09,252", "2026-03-01\t06:20:09", "01/Mar/2026:06:20:09 +0100", "Mar  1 06:20:09",
         "I0301 06:20:09.252123", "Sun Mar  1 06:20:09 2026", "20260301T062009Z", "06:20:09", "06:20:09.5"]  # fmt: skip
WORD = r"[0-9A-Za-z\x80-\xff]"
BEFORE = rf"(?<!{WORD})"
UUID = re.compile(rf"{BEFORE}[0-9A-Fa-f]{{8}}(?:-[0-9A-Fa-f]{{4}}){{3}}-[0-9A-Fa-f]{{12}}(?!{WORD})")
PATH_BYTE = r"[0-9A-Za-z\x80-\xff_.~+@%$/-]"
PATH = re.compile(rf"(?<!{PATH_BYTE})(?<![<)\]}}*])/(?!/){PATH_BYTE}*(?<!\.)")
DRIVE = re.compile(rf"{BEFORE}[A-Za-z]:(?:\\|/(?!/))(?:{PATH_BYTE}|\\)*(?<!\.)")
HEX = re.compile(rf"{BEFORE}(?:0[xX][0-9A-Fa-f]+|(?=[0-9A-Fa-f]*[0-9])(?=[0-9A-Fa-f]*[A-Fa-f])[0-9A-Fa-f]{{8,}})(?!{WORD})")
NUMBER = re.compile(rf"[0-9]+(?:\.[0-9]+)*(?:[eE][+-]?[0-9]+(?!{WORD}))?")
SIGNED = re.compile(rf"{BEFORE}(?<![)\]])[+-](?=[0-9])")
PIECES = ["10.0.0.1", "255.255.255.255", "256.1.1.1", ":80", "::1", "fe80::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "/tmp/x", "/", "//", "C:\\a", "D:/b", "\\", "0x1F", "0x",
          "deadbee1", "deadbeef", "12345678", "1234567a", "01234567-89ab-cdef-0123-456789abcdef", "1.5", "1.2.3", "e5", "1e10", "-", "+", ".", ":", " ", " ", "_", "[", "]",
          "(", ")", "7", "42", "ms", "h", "x", "a", "é", "g", "=", ",", "<", ">", "24ms", "sha256", "%", "?q=", "~", "@"]  # fmt: skip


def ends_address(text: str, end: int) -> bool:
    rest = text[end:]
    if rest.startswith("."):
        return not re.match(r"\.[0-9]", rest)
    return not re.match(rf"::|:{WORD}|{WORD}", rest)


def address(text: str, at: int) -> int | None:
    """The end of the longest IP address at a position; the text before it does not matter."""
    for end in range(min(len(text), at + 50), at, -1):
        part = text[at:end]
        if not re.fullmatch("[0-9A-Fa-f:.]+", part):
            continue
        four = re.fullmatch(r"([0-9.]+)(:[0-9]{1,5})?", part)
        if four and parses(ipaddress.IPv4Address, four[1]) and (ends_address(text, end) or four[2] is None and text[end : end + 1] == ":"):
            return end
        if ":" in part and re.search("[0-9]", part) and parses(ipaddress.IPv6Address, part) and ends_address(text, end) and is_usual(part):
            return end
    return None


def is_usual(part: str) -> bool:
    """Whether the gap of an IPv6 address stands for a group, and other groups are given."""
    groups = [group for group in part.split(":") if group]
    return len(groups) > 0


def parses(kind, text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def placeholder(text: str, at: int, kinds: set) -> tuple[int, str] | None:
    """The end of the part at a position, and its placeholder."""
    before = text[at - 1 : at] if at else ""
    begins = not re.match(WORD, before) if before else True
    if "uuid" in kinds and (match := UUID.match(text, at)):
        return match.end(), "<uuid>"
    is_colon = text[at] == ":"
    if "ip" in kinds and begins and before != "." and not (is_colon and (before == ":" or text[at + 1 : at + 2] != ":")):
        if end := address(text, at):
            return end, "<ip>"
    if "path" in kinds and (match := PATH.match(text, at)) and re.search(WORD, match[0]) and not ("ip" in kinds and address(text, at + 1)):
        return match.end(), "<path>"
    if "hex" in kinds and (match := HEX.match(text, at)):
        return match.end(), "<hex>"
    if "path" in kinds and (match := DRIVE.match(text, at)):
        return (match.end(), "<path>") if re.search(WORD, match[0][2:]) else None
    if "num" not in kinds:
        return None
    if SIGNED.match(text, at):
        part = placeholder(text, at + 1, kinds)
        return part if part and part[1] == "<num>" else None
    word = re.search(rf"{WORD}*\Z", text[:at])[0] + text[at]
    match = NUMBER.match(text, at)
    return (match.end(), "<num>") if match and word[0].isascii() and word[0].isdigit() else None


def check_times(comb: str, path: Path, rng: random.Random) -> tuple[list[str], str] | None:
    """Times between words are replaced; dates that do not exist, and times inside of words, are not."""
    rows = []
    for _ in range(rng.choice([1, 30, 300])):
        parts = [rng.choice(["a", "took", "=", "[x]", "é", "(", "k:"]) for _ in range(rng.randrange(4))]
        at, is_time = rng.randrange(len(parts) + 1), rng.random() < 0.7
        time = rng.choice(TIMES)
        wrong = [f"x{time}", f"9-{time}", f"{time}x", f"{time}é", time.replace("03", "13").replace("Mar", "Foo").replace("06:20", "26:20")]
        parts.insert(at, time if is_time else rng.choice(wrong))
        after = list(parts)
        if is_time:
            after[at] = "<time>"
        rows.append((" ".join(parts), " ".join(after) if is_time else None))
    flags = ["--input", "lines", "-n", "all", "--normalize", "time", "--sort", "key"]
    path.write_text("".join(f"{row}\n" for row, _ in rows))
    found = answer(comb, [*rng.choice(WIDTHS), *flags], path)
    keys = {line.partition(b" ")[2].decode() for line in found[1].splitlines()}
    for row, expected in rows:
        if expected is not None and expected not in keys:
            return flags, f"{row!r} is not {expected!r}"
    return None if found[0] == 0 and found == answer(comb, [*rng.choice(WIDTHS), *flags], path) else (flags, f"{found!r:.300}")


def normalized(key: bytes, kinds: set) -> bytes:
    text, out, at = key.decode("latin-1"), [], 0
    while at < len(text):
        part = placeholder(text, at, kinds)
        out.append(part[1] if part else text[at])
        at = part[0] if part else at + 1
    return "".join(out).encode("latin-1")


def check_placeholders(comb: str, path: Path, rng: random.Random, lines: list[bytes]) -> tuple[list[str], str] | None:
    names = ["uuid", "ip", "path", "hex", "num"]
    kinds = set(rng.sample(names, rng.choice([1, 2, 5])))
    keys = ["".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 9))).encode() for _ in range(rng.choice([1, 30, 300]))]
    keys += rng.sample(lines, min(len(lines), 60)) if rng.random() < 0.5 else []
    flags = ["-n", "all", "--normalize", ",".join(kinds), "--sort", "key"]
    path.write_bytes(b"\n".join(keys) + b"\n")
    expected = Counter(normalized(key, kinds) for key in keys)
    shown = b"".join(b"%d %s\n" % (count, key) for key, count in sorted(expected.items()))
    for width in rng.sample(WIDTHS, 2):
        found = answer(comb, [*width, *flags], path)
        if found != (0, shown, b""):
            wrong = next(((one, other) for one, other in zip(found[1].split(b"\n"), shown.split(b"\n")) if one != other), found)
            culprits = [key for key in keys if b"%d %s" % (expected[normalized(key, kinds)], normalized(key, kinds)) not in found[1].split(b"\n")]
            return flags, f"{width}: {wrong!r:.300}; {culprits[:1]!r:.200}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--comb", default="target/release/comb")
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--samples", nargs="*", default=[Path(__file__).parent.parent / "samples"], help="folders of files whose lines are keys, too")
    parser.add_argument("--keep", default="hunted", help="folder for the files of faults")
    arguments = parser.parse_args()
    files = [path for folder in arguments.samples for path in sorted(Path(folder).iterdir())]
    lines = [line for path in files for line in path.read_bytes().replace(b"\r", b"").split(b"\n") if len(line) < 500]
    keep = Path(arguments.keep)
    keep.mkdir(parents=True, exist_ok=True)
    path, faults = keep / "now.log", 0
    for number in range(arguments.runs):
        rng = random.Random(arguments.seed * 1_000_003 + number)
        check = [check_placeholders, check_values, check_times, check_values][number % 4]
        more = (lines,) if check is check_placeholders else ()
        fault = check(arguments.comb, path, rng, *more)
        if fault:
            faults += 1
            kept = path.rename(keep / f"{arguments.seed}-{number}.log")
            print(f"run {number}: comb top {' '.join(fault[0])} {kept}\n    {fault[1]}", flush=True)
    print(f"{arguments.runs} runs, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
