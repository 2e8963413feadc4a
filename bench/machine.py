"""The machine that a benchmark runs on, and files of results with a section for each kind of processor."""

import datetime
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
MOUNTINFO = Path("/proc/self/mountinfo")
CORES = len(os.sched_getaffinity(0))


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
