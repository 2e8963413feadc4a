"""Tests of the sections of results, and of the names of processors and file systems."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import machine  # noqa: E402
from machine import Processor  # noqa: E402

CPUINFO = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\nmodel\t\t: 1\nmodel name\t: other\n"
MOUNTINFO = r"""21 1 254:0 / / rw,relatime - ext4 /dev/vda rw
22 21 0:5 / /data rw shared:2 - tmpfs none rw
23 21 0:6 / /data/my\040logs rw shared:3 - xfs /dev/vdb rw
24 22 0:7 / /data rw - btrfs /dev/vdc rw
"""


class Processors(unittest.TestCase):
    def test_the_first_processor_is_named_with_family_and_model(self):
        self.assertEqual(str(machine.processor_of(CPUINFO, 2)), "AMD EPYC (family 25, model 17), 2 cores")

    def test_a_processor_without_a_name_has_that_of_the_architecture(self):
        found = machine.processor_of("processor\t: 0\nCPU part\t: 0xd0c\n", 1)
        self.assertTrue(found.name)
        self.assertEqual(str(found), f"{found.name}, 1 core")


class FileSystems(unittest.TestCase):
    def test_the_deepest_mount_counts_and_of_those_the_last(self):
        for folder, expected in {"/home": "ext4", "/data/x": "btrfs", "/data/my logs/a": "xfs", "/database": "ext4"}.items():
            self.assertEqual(machine.file_system_of(MOUNTINFO, Path(folder)), expected)


class PageCache(unittest.TestCase):
    def test_a_file_is_read_again_and_a_share_of_it_lies_in_huge_pages(self):
        with tempfile.NamedTemporaryFile() as file:
            path = Path(file.name)
            self.assertEqual(machine.huge_share(path), 0)
            file.write(bytes(5 << 20))
            file.flush()
            machine.read_again(path)
            self.assertIn(machine.huge_share(path), (0, 0.5, 1))


class Sections(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "RESULTS.md")
        self.old, self.new = Processor("Old", cores=2), Processor("New", "6", "143", 2)

    def write(self, section: Processor, text: str) -> str:
        machine.write_section(self.file, "Results", section, text)
        return self.file.read_text()

    def test_a_new_file_has_a_title_and_one_section(self):
        self.assertEqual(self.write(self.old, "old\n\n### Job\n"), "# Results\n\n## Old, 2 cores\n\nold\n\n### Job\n")

    def test_the_section_of_a_processor_is_replaced_and_the_others_stay(self):
        self.write(self.old, "old")
        both = self.write(self.new, "new")
        self.assertEqual(both, "# Results\n\n## Old, 2 cores\n\nold\n\n## New (family 6, model 143), 2 cores\n\nnew\n")
        self.assertEqual(self.write(self.old, "newer"), both.replace("\nold\n", "\nnewer\n"))

    def test_an_introduction_stays(self):
        self.file.write_text("# Results\n\nAbout them.\n\n## Old, 2 cores\n\nold\n")
        self.assertTrue(self.write(self.new, "new").startswith("# Results\n\nAbout them.\n\n## Old, 2 cores\n\nold\n\n## New"))

    def test_a_text_with_headings_of_sections_is_refused(self):
        for text in ("## Job", "text\n# Title"):
            self.assertRaises(ValueError, self.write, self.old, text)
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main()
