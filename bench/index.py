#!/usr/bin/env python3
"""Benchmarks comb pi, comb index, comb find and comb serve, and writes the section of this processor in bench/RESULTS-index.md.

Needs wrk, apache2-utils (ab) and lighttpd: apt-get install wrk apache2-utils lighttpd
The original server of the Pi Searcher is not packaged; --peer is the URL of a running one (with the files that
`comb index export --pisearch` writes), measured in interleaved rounds with comb serve.
"""

import argparse
import pathlib
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.request

import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMB = ROOT / "target" / "dist" / "comb"
DIGITS = 20_000_000

# Random patterns of seven digits, the same in every run.
WRK_SCRIPT = """
math.randomseed(1)
request = function()
  return wrk.format("GET", "%s" .. string.format("%%07d", math.random(0, 9999999)))
end
"""


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **options)


def seconds(*command):
    start = time.monotonic()
    run(*command)
    return time.monotonic() - start


class Server:
    """A running comb serve."""

    def __init__(self, *arguments):
        command = [COMB, "serve", "--listen", "127.0.0.1:0", *arguments]
        self.process = subprocess.Popen([str(part) for part in command], stderr=subprocess.PIPE, text=True)
        self.url = self.process.stderr.readline().split()[-1]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, "the server failed"


def wrk(url, target, duration, folder):
    """Requests per second and failed requests, with 32 persistent connections."""
    script = folder / "wrk.lua"
    script.write_text(WRK_SCRIPT % target)
    output = run("wrk", "-t1", "-c32", f"-d{duration}s", "-s", script, url).stdout
    failed = sum(int(count) for count in re.findall(r"(?:Non-2xx or 3xx responses: |connect |read |write |timeout )(\d+)", output))
    return float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1]), failed


def ab(url, target, requests):
    """Requests per second with one connection per request and 8 concurrent clients."""
    output = run("ab", "-q", "-c", 8, "-n", requests, f"{url}{target}1234567").stdout
    assert "Non-2xx" not in output, output
    return float(re.search(r"Requests per second:\s+([\d.]+)", output)[1])


def interleaved(rounds, *measures):
    """Median of each measure over interleaved rounds, so that drift of the machine affects all of them."""
    taken = [[measure() for measure in measures] for _ in range(rounds)]
    return [statistics.median(row[column] for row in taken) for column in range(len(measures))]


def measure_pi():
    yield "### Digits of pi\n"
    yield "| digits | one thread | two threads |\n| ---: | ---: | ---: |"
    for digits in (1_000_000, DIGITS):
        one, two = interleaved(3, *(lambda width=width: seconds(COMB, "pi", digits, "-w", width, "-o", "/dev/null") for width in (1, 2)))
        yield f"| {digits:,} | {one:.2f} s | {two:.2f} s |"


def measure_server(index, folder, rounds, peer):
    yield "\n### Server\n"
    yield f"Random patterns of seven digits in {DIGITS:,} digits; requests/s. wrk: one thread, 32 persistent connections; ab: one connection\nper request, 8 concurrent clients. Client and server share the machine.\n"
    yield "| server | wrk | ab |\n| --- | ---: | ---: |"
    server = Server(f"pi={index}")
    asked = [("comb serve, /piquery", server.url, "/piquery?q="), ("comb serve, /api/v1/pi/search", server.url, "/api/v1/pi/search?q=")]
    if peer:
        asked.append(("original server, /piquery", peer, "/piquery?q="))
    steady = interleaved(rounds, *(lambda ask=ask: wrk(ask[1], ask[2], 5, folder)[0] for ask in asked))
    single = interleaved(rounds, *(lambda ask=ask: ab(ask[1], ask[2], 30_000) for ask in asked))
    server.stop()
    for (name, _, _), many, one in zip(asked, steady, single):
        yield f"| {name} | {many:,.0f} | {one:,.0f} |"
    if shutil.which("lighttpd"):
        many, one = measure_cgi(index, folder)
        yield f"| comb cgi behind lighttpd | {many:,.0f} | {one:,.0f} |"


def measure_cgi(index, folder):
    """The same load on CGI: one process per request."""
    script = folder / "search.cgi"
    script.write_text(f"#!/bin/sh\nexec {COMB} cgi pi={index}\n")
    script.chmod(0o755)
    configuration = folder / "lighttpd.conf"
    configuration.write_text(
        f'server.document-root = "{folder}"\nserver.port = 8931\nserver.bind = "127.0.0.1"\n'
        'server.modules = ("mod_cgi")\ncgi.assign = (".cgi" => "")\n'
    )
    process = subprocess.Popen(["lighttpd", "-D", "-f", str(configuration)])
    try:
        time.sleep(1)
        url = "http://127.0.0.1:8931"
        return wrk(url, "/search.cgi?q=", 5, folder)[0], ab(url, "/search.cgi?q=", 2000)
    finally:
        process.terminate()
        process.wait()


def soak(index, folder, duration):
    """Full load while the index is replaced and reloaded every second."""
    served = folder / "soaked.comb"
    shutil.copy(index, served)
    server = Server(f"pi={served}")
    script = folder / "wrk.lua"
    script.write_text(WRK_SCRIPT % "/api/v1/pi/search?q=")
    load = subprocess.Popen(["wrk", "-t1", "-c32", f"-d{duration}s", "-s", str(script), server.url], stdout=subprocess.PIPE, text=True)
    reopened = 0
    while load.poll() is None:
        shutil.copy(index, folder / "new.comb")
        (folder / "new.comb").rename(served)
        server.process.send_signal(signal.SIGHUP)
        reopened += 1
        time.sleep(1)
    output = load.stdout.read()
    requests = int(re.search(r"(\d+) requests in", output)[1])
    failed = sum(int(count) for count in re.findall(r"(?:Non-2xx or 3xx responses: |connect |read |write |timeout )(\d+)", output))
    with urllib.request.urlopen(f"{server.url}/metrics") as metrics:
        counted = re.search(r"comb_indexes_reopened_total (\d+)", metrics.read().decode())[1]
    server.stop()
    yield f"\n### Soak test\n\n{duration} s at full load with {counted} index reloads: {requests:,} requests, {failed} failed."


def measure_lookups():
    yield "\n### Build and lookups\n\n`cargo bench -p finecomb-text-index`: 100,000,000 pseudo-random digits.\n"
    output = run("cargo", "bench", "--locked", "-p", "finecomb-text-index", cwd=ROOT).stdout
    yield "\n".join(line for line in output.splitlines() if line.startswith("|") or not line.strip()).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="number of interleaved rounds")
    parser.add_argument("--soak", type=int, default=60, metavar="SECONDS", help="duration of the soak test")
    parser.add_argument("--peer", metavar="URL", help="a running original server, such as http://127.0.0.1:1416")
    arguments = parser.parse_args()
    subprocess.run(["cargo", "build", "--profile", "dist", "--locked"], cwd=ROOT, check=True)
    report = [f"{machine.describe(pathlib.Path(tempfile.gettempdir()))} Made by `bench/index.py`.\n"]

    def say(lines):
        for line in lines:
            print(line, flush=True)
            report.append(line)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        index = folder / "pi.comb"
        run(COMB, "pi", DIGITS, "-o", folder / "pi")
        run(COMB, "index", "build", folder / "pi", "-o", index)
        say(measure_pi())
        say(measure_server(index, folder, arguments.rounds, arguments.peer))
        say(soak(index, folder, arguments.soak))
        say(measure_lookups())
    results = ROOT / "bench" / "RESULTS-index.md"
    machine.write_section(results, "Results of comb pi, index and serve", machine.processor(), "\n".join(report))


if __name__ == "__main__":
    main()
