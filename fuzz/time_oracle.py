"""What times in logs mean, in exact arithmetic, and the buckets that they fall into: the oracle of hunt_times.py."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

SECOND, DAY = 10**9, 86_400
EPOCH, NAIVE = datetime(1970, 1, 1, tzinfo=timezone.utc), datetime(1970, 1, 1)
# The last nanosecond of 64 bits stands for the end of time.
FIRST, LAST = -(2**63), 2**63 - 2
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
# Limits of Python's calendar with room for an offset, in seconds since 1970.
MARGIN = 9_300_000_000
# The longest run of empty buckets in an answer.
MAX_GAP = 1000


@dataclass(frozen=True)
class Civil:
    """A date and a time of day as written. The year and the offset, in seconds, may be missing."""

    year: int | None
    month: int
    day: int
    # Nanoseconds since midnight.
    time: int
    offset: int | None = None


def days(year: int, month: int, day: int) -> int | None:
    """Days since 1970 in the proleptic Gregorian calendar, of years that Python does not know either."""
    # The calendar repeats every 400 years of 146,097 days.
    moved = 2000 + year % 400
    try:
        return (datetime(moved, month, day) - NAIVE).days + (year - moved) // 400 * 146_097
    except ValueError:
        return None


@lru_cache(1 << 16)
def offset_at(zone: tzinfo, second: int) -> int:
    """Seconds east of UTC at an instant."""
    return int((EPOCH + timedelta(seconds=second)).astimezone(zone).utcoffset().total_seconds())


@lru_cache(1 << 16)
def change(zone: tzinfo, before: int, after: int) -> int:
    """The instant of the only change of clocks between two."""
    offset = offset_at(zone, after)
    while after - before > 1:
        middle = (before + after) // 2
        before, after = (before, middle) if offset_at(zone, middle) == offset else (middle, after)
    return after


def from_wall(zone: tzinfo, wall: int) -> int:
    """The instant at which clocks show a time: the first of two, and moved on by the length of a gap."""
    shown = (NAIVE + timedelta(seconds=wall)).replace(tzinfo=zone, fold=0)
    return wall - int(shown.utcoffset().total_seconds())


def in_range(instant: int) -> int | None:
    return instant if FIRST <= instant <= LAST else None


def in_year(civil: Civil, year: int, zone: tzinfo) -> int | None:
    number = days(year, civil.month, civil.day)
    if number is None:
        return None
    wall, rest = number * DAY + civil.time // SECOND, civil.time % SECOND
    if civil.offset is not None:
        return in_range((wall - civil.offset) * SECOND + rest)
    return in_range(from_wall(zone, wall) * SECOND + rest) if abs(wall) < MARGIN else None


def instant(meaning: Civil | int | None, zone: tzinfo, latest: int) -> int | None:
    """Nanoseconds since 1970. A time without a year is at most a day after `latest`."""
    if meaning is None or isinstance(meaning, int):
        return None if meaning is None else in_range(meaning)
    if meaning.year is not None:
        return in_year(meaning, meaning.year, zone)
    limit = latest + DAY * SECOND
    last = 1970 + limit // SECOND // (365 * DAY) + 1
    found = (in_year(meaning, year, zone) for year in range(last, last - 12, -1))
    return next((at for at in found if at is not None and at <= limit), None)


class Buckets:
    """Buckets of a width in a zone, each known by its first instant."""

    def __init__(self, width: int, zone: tzinfo) -> None:
        self.width, self.zone = width, zone
        self.origin = 4 * DAY if width % (7 * DAY) == 0 else 0

    def floor(self, second: int) -> int:
        """The time that clocks show at the beginning of the bucket."""
        wall = second + offset_at(self.zone, second)
        return (wall - self.origin) // self.width * self.width + self.origin

    def first(self, floor: int) -> int:
        """The first instant at or after the time that clocks show, if it is skipped."""
        at = from_wall(self.zone, floor)
        if at + offset_at(self.zone, at) == floor:
            return at
        return change(self.zone, at - 2 * DAY, at)

    def start(self, second: int) -> int:
        floor = self.floor(second)
        if self.width > 3600:
            return self.first(floor)
        offset = offset_at(self.zone, second)
        start = floor - offset
        return start if offset_at(self.zone, start) == offset else change(self.zone, start, second)

    def next(self, start: int) -> int:
        """The start of the bucket after one."""
        if self.width <= 3600:
            offset = offset_at(self.zone, start)
            end = start + offset - (start + offset) % self.width + self.width - offset
            return end if offset_at(self.zone, end) == offset else change(self.zone, start, end)
        floor, following = self.floor(start), start
        while following <= start or self.floor(following) != floor:
            floor += self.width
            following = self.first(floor)
        return following

    def all(self, known: list[int]) -> list[int]:
        """Starts of all buckets, including empty ones between, except where these are too many."""
        starts = known[:1]
        for start in known[1:]:
            # A bucket is longer than its width by at most a change of clocks of a day.
            gap = []
            if start - starts[-1] <= (MAX_GAP + 2) * self.width + 2 * DAY:
                at = self.next(starts[-1])
                while at < start and len(gap) <= MAX_GAP:
                    gap.append(at)
                    at = self.next(at)
            if len(gap) <= MAX_GAP:
                starts += gap
            starts.append(start)
        return starts

    def label(self, start: int) -> str:
        offset = offset_at(self.zone, start)
        wall = NAIVE + timedelta(seconds=start + offset)
        if self.width % DAY == 0:
            return f"{wall:%Y-%m-%d}"
        seconds = self.width % 60 != 0 or wall.second != 0
        return wall.strftime("%Y-%m-%dT%H:%M:%S" if seconds else "%Y-%m-%dT%H:%M") + shown_offset(offset)


def shown_offset(offset: int) -> str:
    if offset == 0:
        return "Z"
    minutes, seconds = divmod(abs(offset), 60)
    return f"{'-' if offset < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")


def zone_of(name: str) -> tzinfo:
    if name == "UTC":
        return timezone.utc
    if name[0] in "+-":
        digits = name[1:].replace(":", "").ljust(4, "0")
        seconds = 3600 * int(digits[:2]) + 60 * int(digits[2:])
        return timezone(timedelta(seconds=-seconds if name[0] == "-" else seconds), name)
    return ZoneInfo(name)


# Times as they are written


def parts(wall: int) -> tuple[int, int, int, int, int, int, int]:
    """Year, month, day, hour, minute, second and weekday of a number of seconds since 1970 on clocks."""
    number, second = divmod(wall, DAY)
    cycles = (number + 135_140) // 146_097
    at = NAIVE + timedelta(days=number - cycles * 146_097)
    return at.year + 400 * cycles, at.month, at.day, second // 3600, second // 60 % 60, second % 60, at.weekday()


def written_offset(rng: random.Random, seconds: int, styles: list[str]) -> str:
    sign, minutes = "-" if seconds < 0 else "+", abs(seconds) // 60
    style = rng.choice(styles)
    if style == "hour":
        style = "colon" if minutes % 60 else style
    return {"colon": f"{sign}{minutes // 60:02}:{minutes % 60:02}", "plain": f"{sign}{minutes // 60:02}{minutes % 60:02}", "hour": f"{sign}{minutes // 60:02}",
            "blank": f" {sign}{minutes // 60:02}{minutes % 60:02}"}[style]  # fmt: skip


OFFSETS = [0, 3600, -5 * 3600, 5 * 3600 + 1800, -9 * 3600 - 1800, 5 * 3600 + 2700, 14 * 3600, -12 * 3600, 23 * 3600 + 59 * 60, -23 * 3600 - 59 * 60]
FORMS = ["clf", "rfc", "rfc", "minutes", "date", "compact", "syslog", "syslog", "ctime", "mail", "day", "s", "ms", "us", "ns", "fraction"]
NUMBERS = ["s", "ms", "us", "ns", "fraction"]
NO_YEAR = ["syslog", "%b %d %H:%M:%S", "%m-%d %H:%M"]


def written(rng: random.Random, form: str, at: int, zone: tzinfo) -> tuple[str, Civil | int | None]:
    """A text for about this instant, in nanoseconds, and its meaning."""
    if form in NUMBERS:
        return number(rng, form, at)
    second, rest = divmod(at, SECOND)
    offset = rng.choice(OFFSETS) if rng.random() < 0.7 or form == "compact" else None
    if form in ("syslog", "ctime", "minutes", "date"):
        offset = None
    wall = second + (offset_at(zone, second) if offset is None else offset)
    # Times that clocks skip or show twice.
    wall += rng.choice([0, 0, 0, 1, -1800, 1800, 3600, -3600])
    year, month, day, hour, minute, sec, weekday = parts(wall)
    if not 0 <= year <= 9999:
        year = 2000
    if rng.random() < 0.02:
        day = rng.choice([28, 29, 30, 31])
        month = rng.choice([2, 2, 4, 12])
    if rng.random() < 0.02:
        sec = 60
    name, time = MONTHS[month - 1], f"{hour:02}:{minute:02}:{sec:02}"
    of_day = (3600 * hour + 60 * minute + min(sec, 59)) * SECOND
    fraction = ""
    if rng.random() < 0.5 and form not in ("minutes", "date", "clf"):
        digits = f"{rest:09}" + rng.choice(["", "1", "999"])
        digits = digits[: rng.choice([1, 3, 3, 6, 9, 12])]
        fraction, of_day = rng.choice(".,") + digits, of_day + int(digits[:9].ljust(9, "0"))
    zulu = offset == 0 and rng.random() < 0.7
    civil = Civil(year, month, day, of_day, offset)
    match form:
        case "clf":
            return f"{day:02}/{name}/{year:04}:{time}" + ("" if offset is None else written_offset(rng, offset, ["blank"])), civil
        case "rfc":
            mark = rng.choice("--/")
            tail = "" if offset is None else rng.choice(["Z", "z", " UTC", " GMT", "Z"]) if zulu else written_offset(rng, offset, ["colon", "colon", "plain", "hour", "blank"])
            return f"{year:04}{mark}{month:02}{mark}{day:02}{rng.choice('TTT tT_')}{time}{fraction}{tail}", civil
        case "minutes":
            return f"{year:04}-{month:02}-{day:02}{rng.choice('T ')}{hour:02}:{minute:02}", Civil(year, month, day, (60 * hour + minute) * 60 * SECOND)
        case "date":
            return f"{year:04}-{month:02}-{day:02}", Civil(year, month, day, 0)
        case "compact":
            tail = "Z" if zulu else written_offset(rng, offset, ["plain", "colon"])
            return f"{year:04}{month:02}{day:02}{rng.choice('T-')}{hour:02}{minute:02}{sec:02}{fraction}{tail}", civil
        case "syslog":
            return f"{name} {rng.choice([f'{day:2}', f'{day:2}', f'{day:02}', str(day)])} {time}{fraction}", Civil(None, month, day, of_day)
        case "ctime":
            return f"{WEEKDAYS[weekday]} {name} {day:2} {time}{fraction} {year:04}", civil
        case "mail":
            tail = "" if offset is None else " GMT" if zulu else written_offset(rng, offset, ["blank"])
            return f"{WEEKDAYS[weekday]}, {day:02} {name} {year:04} {time}{tail}", Civil(year, month, day, (3600 * hour + 60 * minute + min(sec, 59)) * SECOND, offset)
    tail = "" if offset is None else written_offset(rng, offset, ["blank", "colon"])
    mark = rng.choice("-/ ")
    return f"{day:02}{mark}{name if rng.random() < 0.8 else name.upper()}{mark}{year:04}{rng.choice(': T')}{time}{fraction}{tail}", civil


def number(rng: random.Random, form: str, at: int) -> tuple[str, int | None]:
    """Seconds, ms, us or ns since 1970, by the number of digits."""
    unit = {"s": SECOND, "fraction": SECOND, "ms": 10**6, "us": 1000, "ns": 1}[form]
    value = abs(at) // unit
    text = str(value)
    if rng.random() < 0.03:
        text = str(rng.randrange(10 ** rng.randrange(1, 22)))
    unit = {**dict.fromkeys(range(1, 12), SECOND), **dict.fromkeys(range(12, 15), 10**6), **dict.fromkeys(range(15, 18), 1000), 18: 1, 19: 1}.get(len(text))
    meaning = int(text) * unit if unit else None
    if form == "fraction" or rng.random() < 0.05:
        digits = f"{rng.randrange(10**9):09}"[: rng.choice([1, 3, 6, 9])]
        text += "." + digits
        if unit:
            meaning += int(digits.ljust(9, "0")) * unit // SECOND
    return text, meaning


PATTERNS = ["%Y%m%d %H%M%S", "%d.%m.%Y %H:%M:%S", "%Y-%m-%d %H:%M:%S%.f", "%s", "%s.%f", "%b %d %H:%M:%S", "%m/%d/%y %I:%M:%S %p", "%Y-%j %H:%M:%S", "%A, %d %B %Y %T %z",
            "%F %T %:z", "%d/%b/%Y:%H:%M:%S %z", "%m-%d %H:%M", "%d %m %Y", "%Y-%m-%dT%H:%M:%S.%f%z", "%G-W%V-%u %H:%M", "%H:%M:%S %d/%m/%Y"]  # fmt: skip


def by_pattern(rng: random.Random, pattern: str, at: int, zone: tzinfo) -> tuple[str, Civil | int | None]:
    """A text in a format of strptime for about this instant, and its meaning."""
    second, rest = divmod(at, SECOND)
    if pattern.startswith("%s"):
        if "%f" not in pattern:
            return str(second), second * SECOND
        digits = f"{rest:09}"[: rng.choice([1, 3, 6, 9])]
        # The sign is that of all digits.
        second, sign = (second, 1) if rng.random() < 0.8 else (abs(second), -1)
        # A sign of zero is not kept.
        sign = sign if second else 1
        return f"{'-' if sign < 0 else ''}{second}.{digits}", sign * (abs(second) * SECOND + int(digits.ljust(9, "0"))) if second >= 0 else second * SECOND - int(digits.ljust(9, "0"))
    offset = rng.choice(OFFSETS) if "z" in pattern else None
    wall = second + (offset_at(zone, second) if offset is None else offset)
    wall += rng.choice([0, 0, 0, 1, -1800, 1800, 3600, -3600])
    if "%y" in pattern:
        # Two digits are years from 1969 to 2068.
        low, high = (days(year, 1, 1) * DAY for year in (1969, 2069))
        wall = wall if low <= wall < high else wall % (DAY * 365)
    year, month, day, hour, minute, sec, _ = parts(wall)
    if not 1 <= year <= 9999:
        year = 2000
    shown = datetime(year, month, day, hour, minute, sec) if days(year, month, day) is not None else datetime(2000, 2, 28)
    year, month, day, hour, minute, sec = shown.timetuple()[:6]
    has_seconds = any(directive in pattern for directive in ("%S", "%T"))
    time = (3600 * hour + 60 * minute + (sec if has_seconds else 0)) * SECOND
    if pattern == "%d %m %Y":
        time = 0
    text = pattern.replace("%:z", written_offset(rng, offset or 0, ["colon"])).replace("%z", written_offset(rng, offset or 0, ["plain"]))
    digits = f"{rest:09}"[: rng.choice([1, 3, 6, 9])]
    if "%f" in pattern or "%.f" in pattern and rng.random() < 0.7:
        time += int(digits.ljust(9, "0"))
        text = text.replace("%.f", "." + digits).replace("%f", digits)
    text = text.replace("%.f", "").replace("%Y", f"{year:04}").replace("%F", f"{year:04}-%m-%d").replace("%G", f"{shown.isocalendar()[0]:04}")
    return shown.strftime(text), Civil(None if pattern in NO_YEAR else year, month, day, time, offset)
