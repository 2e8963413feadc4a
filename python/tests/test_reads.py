"""The module reads files into memory to which the kernel copies fast, as the command does: strace shows the addresses."""

import re
import subprocess
import sys
import unittest

from support import Files

PAGE = 4096
# A read at an offset, with all numbers in hexadecimal.
READ = re.compile(r"pread64\(0x\w+, (0x\w+), 0x\w+, (0|0x\w+)\) = (0x\w+)")
LARGE = 16 << 10


class Reads(Files):
    def addresses(self, call: str) -> list[tuple[int, int]]:
        """The places in their pages that the large reads of a file had in memory and in the file."""
        path = self.write("big", b"".join(b"%d %d\n" % (at % 97, at) for at in range(200_000)))
        trace = self.directory / "trace"
        script = f"import finecomb\nfrom finecomb import _finecomb\npath = {str(path)!r}\n{call}"
        traced = ["strace", "-f", "-P", path, "-e", "trace=pread64,read", "-e", "raw=pread64,read", "-o", trace]
        subprocess.run([*traced, sys.executable, "-c", script], check=True)
        text = trace.read_text()
        self.assertNotIn("read(0x", text.replace("pread64(", ""))
        reads = [[int(number, 16) for number in found.groups()] for found in READ.finditer(text)]
        return [(address % PAGE, offset % PAGE) for address, offset, got in reads if got >= LARGE]

    def test_large_reads_are_aligned(self):
        for call in [
            "finecomb.top(path, fields=[1])",
            "list(finecomb.grep('7', path))",
            "_finecomb.survey_part(path, 0)",
        ]:
            places = self.addresses(call)
            self.assertTrue(places, call)
            self.assertEqual([place for place in places if place[0] != place[1]], [], call)


if __name__ == "__main__":
    unittest.main()
