#!/usr/bin/env python3
"""Benchmarks the formats and measures of comb top against its peers, prints tables and writes the section of
this processor in bench/RESULTS-formats.md.

    bench/formats.py [--rounds N] [--scale F] [--only JOB] [--comb PATH]

    --scale F    multiplies the number of records of each input (default: 1, about 8.5 GB in bench/data/)

Generates the inputs on the first run. Needs hyperfine. Peers are searched in PATH: mawk, mlr, goaccess, jq, rg (apt-get install mawk
miller goaccess jq ripgrep); jaq, agrind, xan, gb (cargo install jaq ag xan csv-groupby). DuckDB and chdb are used from this Python
(pip install duckdb chdb). Missing programs are skipped and reported.

Before anything is timed, the output of every program is compared with all groups of comb: the largest counts must be the same, and
so must the numbers of each key. Which of the keys with equal counts are printed may differ, and means and percentiles differ by
rounding. A peer that fails or takes longer than a minute is reported and left out; one that takes longer than ten seconds is timed
in the first round only. The programs of a job run in interleaved rounds, so that drift of the machine affects all of them; the
tables show medians. With --only, results are written only to --output.
"""

import argparse
import csv
import io
import itertools
import json
import math
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import grep
import run
from grep import ENVIRONMENT, Goal
from machine import CORES
from run import has, version

# A peer that takes longer than this is left out, or timed once.
TOO_SLOW, SLOW = 60, 10
# Panels of GoAccess that say nothing about paths.
PANELS = (
    "VISITORS HOSTS OS BROWSERS VISIT_TIMES VIRTUAL_HOSTS REFERRERS REFERRING_SITES KEYPHRASES STATUS_CODES REMOTE_USER "
    "CACHE_STATUS GEO_LOCATION MIME_TYPE TLS_TYPE"
)
# By column: the numbers of a key, and the key.
Row = dict[str, str]


def table(columns: str, separator: str = ",", header: bool = False) -> Callable[[str], list[Row]]:
    """Reader of a table with these columns. The last may have spaces. A column named - is not compared."""
    names = columns.split()

    def read(text: str) -> list[Row]:
        if separator == ",":
            rows = list(csv.reader(io.StringIO(text)))
        else:
            rows = [line.split(separator, len(names) - 1) for line in text.removesuffix("\n").split("\n")]
        pairs = (zip(names, row, strict=True) for row in rows[int(header) :])
        return [{name: value for name, value in row if name != "-"} for row in pairs]

    return read


def tally(text: str) -> list[Row]:
    """Reader of the keys of all records, one on each line."""
    counts = Counter(text.split("\n")[:-1])
    return [{"count": str(count), "key": key} for key, count in counts.most_common(10)]


def panels(text: str) -> list[Row]:
    """Reader of GoAccess, which splits the paths among panels: found, static files, and not found."""
    hits, sums = Counter(), Counter()
    for panel in (panel for name, panel in json.loads(text).items() if name != "general"):
        for item in panel["data"]:
            hits[item["data"]] += item["hits"]["count"]
            sums[item["data"]] += item["bytes"]["count"]
    return [{"count": str(count), "sum(bytes)": str(sums[key]), "key": key} for key, count in hits.most_common(10)]


def groups(text: str) -> list[Row]:
    """Reader of comb --format csv."""
    names, *rows = csv.reader(io.StringIO(text))
    return [dict(zip([*names[:-1], "key"], row, strict=True)) for row in rows]


def not_empty(text: str) -> list[Row]:
    """Reader of comb --every, without the buckets that have no records."""
    return [row for row in groups(text) if row["count"] != "0"]


@dataclass
class Program(grep.Program):
    reads: Callable[[str], list[Row]] = groups


@dataclass
class Job(grep.Job):
    file: Path = Path()
    # Number of keys to print; None for all.
    keys: int | None = 10
    # By column: the largest relative difference.
    tolerance: dict[str, float] = field(default_factory=dict)


def limits(file: Path) -> list[Program]:
    return [Program(name, f"{name} {file.name}", is_limit=True) for name in ("wc -l", "cat")]


def comb_top(comb: str, arguments: str, file: Path) -> list[Program]:
    return [Program(f"comb{width}", f"{comb} top{width} {arguments} {file.name}") for width in ("", " -j 1")]


def peer(name: str, command: str | list[str], reads: Callable[[str], list[Row]], needs: str | None = None) -> Program:
    command = command if isinstance(command, str) else shlex.join(command)
    return Program(name, command, needs or shlex.split(command)[0], reads=reads)


def sql(name: str, query: str, columns: str) -> Program:
    """A row whose name begins with that of the engine."""
    engine = name.partition(",")[0].lower()
    command = [sys.executable, str(run.HERE / "peers" / "sql.py"), engine, query]
    return peer(name, command, table(columns), engine)


def top_of_lines(name: str, key: str, file: Path) -> Program:
    """DuckDB on lines as they are."""
    return peer(name, run.duckdb(Path(file.name), key).command, table("count key", " "), "duckdb")


def ranked(awk: str, file: Path) -> str:
    """The ten largest counts of a program of mawk that prints counts and keys in any order."""
    return f"bash -c {shlex.quote(f'mawk {shlex.quote(awk)} {file.name} | sort -k1,1nr | head -n 10')}"


def job_of(name: str, file: Path, programs: list[Program], goals: list[Goal], **options) -> Job:
    return Job(name, file.parent, programs, goals, base="wc -l", compares=False, file=file, **options)


def lines_job(comb: str, file: Path) -> Job:
    programs = [*comb_top(comb, "-f 7", file), *limits(file), top_of_lines("DuckDB", "split_part(line, ' ', 7)", file)]
    return job_of("lines: top -f 7", file, programs, [Goal("comb", ["wc -l"], 1.3), Goal("comb", ["DuckDB"], None)])


PATH_OF_REQUEST = "split_part(split_part(request, ' ', 2), '?', 1)"
TIME_OF_LOG = "strptime(day, '[%d/%b/%Y:%H:%M:%S')"


def access_log(file: Path) -> str:
    """A log as a table of DuckDB. All its times are of UTC."""
    columns = ", ".join(f"'{name}': 'VARCHAR'" for name in "address identity login day zone request status size referer agent".split())
    return rf"""read_csv('{file.name}', columns={{{columns}}}, delim=' ', quote='"', escape='\', header=false, auto_detect=false)"""


def of_log(file: Path, select: str, condition: str = "true", key: str = PATH_OF_REQUEST) -> Program:
    """DuckDB on the fields of a log; the path is a part of the request."""
    query = f"SELECT count(*) AS n, {select}{key} AS k FROM {access_log(file)} WHERE {condition} GROUP BY k ORDER BY n DESC, k LIMIT 10"
    return sql("DuckDB", query, "count sum(bytes) p99(bytes) key" if select else "count key")


def window_job(comb: str, file: Path) -> Job:
    """A window that holds all records, so that nothing is saved after the test of the time, beside one that holds few."""
    programs = [
        *comb_top(comb, "-f 7 --since 2000-01-01", file),
        Program("comb, a day", f"{comb} top -f 7 --since 2026-03-02 --until 2026-03-03 --tz UTC {file.name}", is_limit=True),
        Program("comb -f 7", f"{comb} top -f 7 {file.name}", is_limit=True),
        *limits(file),
        of_log(file, "", f"{TIME_OF_LOG} >= TIMESTAMP '2000-01-01'", "split_part(request, ' ', 2)"),
    ]
    goals = [Goal("comb", ["comb -f 7"], 1.3), Goal("comb, a day", ["comb -f 7"], None), Goal("comb", ["DuckDB"], None)]
    return job_of("window: top -f 7 --since 2000-01-01", file, programs, goals)


def buckets_job(comb: str, file: Path) -> Job:
    bucket = f"strftime(time_bucket(INTERVAL 1 MINUTE, {TIME_OF_LOG}), '%Y-%m-%dT%H:%MZ')"
    query = f"SELECT count(*), {bucket} AS k FROM {access_log(file)} GROUP BY k ORDER BY k"
    programs = comb_top(comb, "--every 1m --tz UTC", file)
    for program in programs:
        program.reads = not_empty
    programs += [Program("comb -f 7", f"{comb} top -f 7 {file.name}", is_limit=True), *limits(file), sql("DuckDB", query, "count key")]
    goals = [Goal("comb", ["comb -f 7"], 1.5), Goal("comb", ["DuckDB"], None)]
    return job_of("buckets: top --every 1m", file, programs, goals, keys=None)


def measures_job(comb: str, file: Path) -> Job:
    arguments = "--input combined -f path --sum bytes --p99 bytes"
    ignored = " ".join(f"--ignore-panel={panel}" for panel in PANELS.split())
    goaccess = f"goaccess {file.name} --log-format=COMBINED --no-progress -o json -q -H no -M no --no-ip-validation {ignored}"
    parse = r'* | parse "* * * [*] \"* * *\" * * " as address, identity, login, time, method, url, protocol, status, size'
    query = rf'{parse} | parse regex "^(?P<path>[^?]*)" from url | count as n, sum(size) as total, p99(size) as high by path | limit 10'
    size = "try_cast(size AS BIGINT)"
    awk = '{ u = $7; sub(/\\?.*/, "", u); n[u]++; s[u] += $10 } END { for (u in n) printf "%d %.0f %s\\n", n[u], s[u], u }'
    programs = [
        *comb_top(comb, arguments, file),
        Program("comb -f 7", f"{comb} top -f 7 {file.name}", is_limit=True),
        *limits(file),
        of_log(file, f"sum({size}), quantile_disc({size}, 0.99), "),
        peer("mawk, only the sum", ranked(awk, file), table("count sum(bytes) key", " "), "mawk"),
        peer("GoAccess, only the sum", goaccess, panels),
        agrind(query, "key count sum(bytes) -", file),
    ]
    goals = [Goal("comb", ["comb -f 7"], 2.5), *(Goal("comb", [program.name], None) for program in programs[-4:])]
    # Percentiles of comb are at most 0.4 % off. angle-grinder's are estimates, and of another rank for small groups.
    return job_of(f"measures: top {arguments}", file, programs, goals, tolerance={"p99(bytes)": 0.004})


def agrind(query: str, columns: str, file: Path) -> Program:
    """angle-grinder. A column named - is not compared."""

    def objects(text: str) -> list[Row]:
        rows = [dict(zip(columns.split(), map(str, row.values()), strict=True)) for row in json.loads(text)]
        return [{name: value for name, value in row.items() if name != "-"} for row in rows]

    return peer("angle-grinder", ["agrind", "-f", file.name, "-o", "json", query], objects)


def where_job(comb: str, file: Path) -> Job:
    arguments = "--input combined --where 'status == 404' -f path"
    awk = '$9 == 404 { u = $7; sub(/\\?.*/, "", u); n[u]++ } END { for (u in n) print n[u], u }'
    programs = [
        *comb_top(comb, arguments, file),
        Program("comb -f 7", f"{comb} top -f 7 {file.name}", is_limit=True),
        *limits(file),
        peer("mawk", ranked(awk, file), table("count key", " "), "mawk"),
        of_log(file, "", "status = '404'"),
    ]
    goals = [Goal("comb", ["comb -f 7"], 1.3), Goal("comb", ["mawk"], None), Goal("comb", ["DuckDB"], None)]
    return job_of(f"where: top {arguments}", file, programs, goals)


def stations_job(comb: str, file: Path) -> Job:
    arguments = "--input csv -p ';' --no-header -f 1 --min 2 --mean 2 --max 2 -n all --sort key"
    query = "SELECT count(*), min(t), avg(t), max(t), s FROM {} GROUP BY s ORDER BY s"
    duckdb = f"read_csv('{file.name}', columns={{'s': 'VARCHAR', 't': 'DOUBLE'}}, delim=';', quote='', header=false, auto_detect=false)"
    chdb = query.format(f"file('{file.name}', 'CSV', 's String, t Float64')")
    chdb += " SETTINGS format_csv_delimiter=';', input_format_csv_trim_whitespaces=0"
    columns, by_key = "count min(2) mean(2) max(2) key", "key count min(2) mean(2) max(2)"
    mlr = f"mlr --icsv --ifs ';' --implicit-csv-header --ocsv stats1 -a count,min,mean,max -f 2 -g 1 {file.name}"
    programs = [
        *comb_top(comb, arguments, file),
        *limits(file),
        sql("DuckDB", query.format(duckdb), columns),
        sql("chdb", chdb, columns),
        peer("csv-groupby", f"gb -d ';' -k 1 -n 2 -a 2 -x 2 -c -f {file.name}", table("key count min(2) max(2) mean(2)", header=True)),
        peer("mlr", mlr, table(by_key, header=True)),
    ]
    goals = [Goal("comb", ["DuckDB"], 1 / 3), Goal("comb -j 1", [], None, at_least=0.5), Goal("comb", [], None, at_least=0.5 * CORES)]
    goals += [Goal("comb", [program.name], None) for program in programs[-3:]]
    return job_of(f"stations: top {arguments}", file, programs, goals, keys=None, tolerance={"mean(2)": 1e-9})


def json_job(comb: str, file: Path) -> Job:
    key = "request.headers.host"
    query = f"SELECT count(*) AS n, {key} AS k FROM {{}} GROUP BY k ORDER BY n DESC, k LIMIT 10"
    duckdb = f"read_ndjson('{file.name}', columns={{'request': 'STRUCT(headers STRUCT(host VARCHAR))'}})"
    chdb = f"file('{file.name}', 'JSONEachRow', 'request Tuple(headers Tuple(host String))')"
    programs = [
        *comb_top(comb, f"--input json -f .{key}", file),
        *limits(file),
        peer("jq -r, without counting", f"jq -r .{key} {file.name}", tally),
        peer("jaq -r, without counting", f"jaq -r .{key} {file.name}", tally),
        sql("DuckDB", query.format(duckdb), "count key"),
        sql("chdb", query.format(chdb), "count key"),
        agrind(f"* | json | count as n by {key} | limit 10", "key count", file),
    ]
    goals = [Goal("comb", [], None, at_least=0.75 * CORES)]
    goals += [Goal("comb", [f"{name} -r, without counting"], 0.2) for name in ("jq", "jaq")]
    goals += [Goal("comb", ["DuckDB"], 1 / 3), Goal("comb", ["chdb"], None), Goal("comb", ["angle-grinder"], None)]
    return job_of(f"json: top --input json -f .{key}", file, programs, goals)


def csv_job(comb: str, file: Path) -> Job:
    key = "product"
    query = f"SELECT count(*) AS n, {key} FROM {{}} GROUP BY {key} ORDER BY n DESC, {key} LIMIT 10"
    mlr = f"mlr --icsv --ocsv count-distinct -f {key} then sort -nr count then head -n 10 {file.name}"
    programs = [
        *comb_top(comb, f"--input csv -f {key}", file),
        *limits(file),
        sql("DuckDB", query.format(f"read_csv('{file.name}', header=true, all_varchar=true)"), "count key"),
        sql("chdb", query.format(f"file('{file.name}', 'CSVWithNames')"), "count key"),
        peer("xan", f"xan frequency -s {key} -l 10 --no-extra {file.name}", table("- key count", header=True)),
        peer("mlr", mlr, table("key count", header=True)),
    ]
    goals = [Goal("comb", [], None, at_least=0.75 * CORES), Goal("comb", ["xan"], 0.5)]
    goals += [Goal("comb", [name], None) for name in ("DuckDB", "chdb", "mlr")]
    return job_of(f"csv: top --input csv -f {key}", file, programs, goals)


def logfmt_job(comb: str, file: Path) -> Job:
    """angle-grinder is left out: it loses the fields after a value with an escaped quote."""
    key = "path"
    mlr = f"mlr --idkvp --ifs ' ' --ocsv count-distinct -f {key} then sort -nr count then head -n 10 {file.name}"
    programs = [
        *comb_top(comb, f"--input logfmt -f {key}", file),
        *limits(file),
        peer("mlr --idkvp", mlr, table("key count", header=True)),
        top_of_lines("DuckDB, regular expression", f"regexp_extract(line, '(?:^| ){key}=([^ ]*)', 1)", file),
    ]
    goals = [Goal("comb", [], None, at_least=0.5 * CORES), *(Goal("comb", [program.name], None) for program in programs[-2:])]
    return job_of(f"logfmt: top --input logfmt -f {key}", file, programs, goals)


def sorted_job(comb: str, file: Path) -> Job:
    """A hundredth of a log of four months."""
    arguments = "--since '2026-05-01 00:00' --until '2026-05-02 06:00' --tz UTC"
    programs = [
        Program("comb --sorted", f"{comb} top --sorted -f 7 {arguments} {file.name}"),
        Program("comb", f"{comb} top -f 7 {arguments} {file.name}"),
        limits(file)[0],
    ]
    return job_of(f"sorted: top --sorted -f 7 {arguments}", file, programs, [Goal("comb --sorted", ["comb"], 0.05)])


def extract_job(comb: str, file: Path) -> Job:
    pattern, rg = r"Firefox/\d+", "rg -o, without counting"
    programs = [
        Program("comb -e", f"{comb} top -j 1 -e '{pattern}' {file.name}"),
        Program("comb -g -s", f"{comb} top -j 1 -g Firefox/ -s '.*({pattern}).*' '$1' {file.name}"),
        limits(file)[0],
        peer(rg, f"rg -j 1 -o '{pattern}' {file.name}", tally),
    ]
    goals = [Goal(program.name, [rg], 3.0) for program in programs[:2]]
    return job_of(f"extract: top -j 1 -e '{pattern}'", file, programs, goals, output="pipe")


# By job: name of the input, its format for make-access-log, and the number of its records.
JOBS = {
    lines_job: ("access.log", None, 2_000_000),
    measures_job: ("access.log", None, 2_000_000),
    where_job: ("access.log", None, 2_000_000),
    window_job: ("access.log", None, 2_000_000),
    buckets_job: ("access.log", None, 2_000_000),
    stations_job: ("stations.csv", "stations", 100_000_000),
    json_job: ("service.json", "json", 1_000_000),
    csv_job: ("orders.csv", "csv", 6_900_000),
    logfmt_job: ("service.logfmt", "logfmt", 2_850_000),
    extract_job: ("access.log", None, 2_000_000),
    sorted_job: ("access.log", None, 19_000_000),
}


def printed(program: Program, job: Job, more: str = "") -> str | None:
    """Standard output of a program. None, and a fact of the job, if it is a peer that fails or takes too long."""
    command = [*(["timeout", str(TOO_SLOW)] if program.needs else []), *shlex.split(program.command + more)]
    answer = subprocess.run(command, cwd=job.folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if answer.returncode == 0:
        return answer.stdout.decode(errors="surrogateescape")
    reason = f"{program.name} fails with exit status {answer.returncode}"
    if program.needs is None:
        sys.exit(f"bench: {job.name}: {reason}: {answer.stderr.decode(errors='replace')}")
    job.facts.append(f"{f'{program.name} takes longer than {TOO_SLOW} s' if answer.returncode == 124 else reason}, and is left out.")
    return None


def check_same_work(job: Job) -> None:
    """Compares the output of every program with all groups of comb, except limits."""
    expected = None
    for program in [program for program in job.programs if has(program.needs) and not program.is_limit]:
        start = time.monotonic()
        text = printed(program, job, "" if program.needs else " --format csv -n all")
        if text is None:
            job.programs.remove(program)
            continue
        program.is_slow = time.monotonic() - start > SLOW
        rows = program.reads(text)
        if expected is None:
            expected = {row["key"]: row for row in rows}
            job.facts.append(f"Keys: {len(rows):,}.")
        if difference := difference_of(rows, expected, job, None if program.needs is None else job.keys):
            sys.exit(f"bench: {job.name}: output of {program.name} differs from comb: {difference}")


def difference_of(rows: list[Row], expected: dict[str, Row], job: Job, keys: int | None) -> str | None:
    """The first difference of printed rows from the expected ones."""
    largest = sorted((int(row["count"]) for row in expected.values()), reverse=True)[:keys]
    counts = sorted((int(row["count"]) for row in rows), reverse=True)
    for place, (count, wanted) in enumerate(itertools.zip_longest(counts, largest), 1):
        if count != wanted:
            return f"count {place} is {count} instead of {wanted}"
    for row in rows:
        wanted = expected.get(row["key"], {})
        for column in row:
            if row[column] != wanted.get(column) and not is_close(row[column], wanted.get(column), job.tolerance.get(column, 0)):
                return f"{column} of {row['key']!r} is {row[column]} instead of {wanted.get(column)}"
    return None


def is_close(number: str, wanted: str | None, tolerance: float) -> bool:
    """Whether two numbers are equal except for rounding. comb rounds the means of tenths to four decimals."""
    try:
        return math.isclose(float(number), float(wanted or "nan"), rel_tol=tolerance, abs_tol=5.1e-5 if tolerance else 0)
    except ValueError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1, help="multiplies the number of records of each input (default: 1)")
    grep.add_arguments(parser, 7, "RESULTS-formats.md")
    arguments = parser.parse_args()
    comb = grep.built(arguments)
    planned = {}
    for maker, (name, form, records) in JOBS.items():
        stem, suffix = name.split(".")
        records = str(int(records * arguments.scale))
        found = maker(comb, run.DATA / f"{stem}-{records}.{suffix}")
        planned[found.name] = (found, [records, *(["--format", form] if form else [])])
    if jobs := grep.chosen([found for found, _ in planned.values()], arguments):
        for found in jobs:
            prepare(found, planned[found.name][1])
        report(jobs, arguments, comb)


def prepare(found: Job, generator: list[str]) -> None:
    """Generates the input if it is missing, and checks the programs that are installed."""
    if not found.file.exists():
        subprocess.run(["cargo", "build", "--profile", "dist", "--locked", "-p", "finecomb-corpus"], cwd=run.ROOT, check=True)
        run.make_log(found.file, generator)
    found.input_bytes = found.file.stat().st_size
    found.facts.append(f"Input: {found.file.name}, {found.input_bytes / 1e6:.0f} MB.")
    print(f"bench: comparing the output of {found.name}", file=sys.stderr)
    check_same_work(found)


def report(jobs: list[Job], arguments: argparse.Namespace, comb: str) -> None:
    peers = [version(["mawk", "-W", "version"])] if has("mawk") else []
    for module in filter(has, ("duckdb", "chdb")):
        peers.append(version([sys.executable, "-c", f"import {module}; print('{module}', {module}.__version__)"]))
    out = [
        *grep.setting(shlex.split(comb)[0], ("wc", "mlr", "goaccess", "jq", "jaq", "agrind", "xan", "gb", "rg"), run.DATA),
        *([f"Also {'; '.join(peers)}."] if peers else []),
        f"{arguments.rounds} rounds, warm cache.",
        "",
        *grep.results(jobs, [], arguments.rounds),
    ]
    grep.write("Results of comb top with formats and measures", out, arguments, run.HERE / "RESULTS-formats.md")


if __name__ == "__main__":
    main()
