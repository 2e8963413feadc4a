"""The machine that a benchmark runs on, and files of results with a section for each kind of processor."""

import datetime
import mmap
import os
import platform
import re
import resource
from dataclasses import dataclass
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
MOUNTINFO = Path("/proc/self/mountinfo")
CORES = len(os.sched_getaffinity(0))
# Size of a huge page, and distance of the pages that are touched in it: the kernel maps 16 small ones at once.
HUGE_PAGE, TOUCHED = 2 << 20, 64 << 10


@dataclass(frozen=True)
class Processor:
    """A kind of processor. Family and model distinguish those that share a name, as many do on virtual machines."""

    name: str
    family: str | None = None
    model: str | None = None
    cores: int | None = None

    def __str__(self) -> str:
        kind = f" (family {self.family}, model {self.model})" if self.family and self.model else ""
        cores = f", {self.cores} core{'' if self.cores == 1 else 's'}" if self.cores else ""
        return f"{self.name}{kind}{cores}"


def processor() -> Processor:
    """The processor of this machine, with the cores that this process may use."""
    return processor_of(CPUINFO.read_text() if CPUINFO.exists() else "", CORES)


def processor_of(cpuinfo: str, cores: int) -> Processor:
    """The first processor of /proc/cpuinfo, which names none on some architectures."""
    first = cpuinfo.split("\n\n", 1)[0]
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in first.splitlines())}
    name = fields.get("model name") or platform.processor() or platform.machine()
    return Processor(name, fields.get("cpu family"), fields.get("model"), cores)


def file_system(folder: Path) -> str:
    """Type of the file system that a folder is on."""
    return file_system_of(MOUNTINFO.read_text(), folder.resolve()) if MOUNTINFO.exists() else "unknown file system"


def file_system_of(mountinfo: str, folder: Path) -> str:
    """Type of the last of the deepest mounts that hold a folder."""
    mounts = []
    for line in mountinfo.splitlines():
        mount, _, source = line.partition(" - ")
        point = Path(re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), mount.split()[4]))
        if folder.is_relative_to(point):
            mounts.append((len(point.parts), len(mounts), source.split()[0]))
    return max(mounts)[2] if mounts else "unknown file system"


def read_again(file: Path) -> None:
    """Evicts a file from the page cache and reads it again: with a large read-ahead, it lies in huge pages afterwards."""
    with file.open("rb", buffering=0) as opened:
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
        while opened.read(HUGE_PAGE):
            pass


def huge_share(file: Path) -> float:
    """The share of a file that lies in huge pages of the page cache: those that are mapped by a single page fault."""
    count, huge = file.stat().st_size // HUGE_PAGE, 0
    with file.open("rb") as opened:
        for number in range(count):
            offset = number * HUGE_PAGE
            with mmap.mmap(opened.fileno(), HUGE_PAGE, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE, offset=offset) as view:
                before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
                for at in range(0, HUGE_PAGE, TOUCHED):
                    _ = view[at]
                huge += resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before <= 1
    return huge / count if count else 0.0


def describe(data: Path) -> str:
    """Date, processor, memory, kernel, file system of the data, and load, in one line."""
    gibibytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.release().split('-')[0]}"
    return (
        f"{datetime.date.today()}, {processor()}, {gibibytes:.0f} GiB, {system}, data on {file_system(data)}. "
        f"Load average at start: {os.getloadavg()[0]:.1f}."
    )


def write_section(path: Path, title: str, section: Processor, text: str) -> None:
    """Replaces the section of a processor in a file of results, or adds it. The others stay as they are.

    Headings of the text are of the third level.
    """
    if re.search(r"^##? ", text, re.MULTILINE):
        raise ValueError("a heading of the text would begin another section")
    head, *parts = re.split(r"^## ", path.read_text() if path.exists() else "", flags=re.MULTILINE)
    introduction = head.partition("\n")[2].strip()
    sections = {}
    for part in parts:
        heading, _, body = part.partition("\n")
        sections[heading.strip()] = body.strip()
    sections[str(section)] = text.strip()
    blocks = [f"# {title}", *([introduction] if introduction else [])]
    blocks += [f"## {heading}\n\n{body}" for heading, body in sections.items()]
    path.write_text("\n\n".join(blocks) + "\n")
