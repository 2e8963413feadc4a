"""Tests of what bench/build reads from the output of cargo."""

import unittest

from programs import load

build = load("build")


class Reading(unittest.TestCase):
    def test_units_are_ordered_by_their_time(self):
        report = """<script>
const UNIT_DATA = [
  {"name": "sys", "version": "0.2.0", "target": "", "start": 0.1, "duration": 1.5},
  {"name": "zstd-sys", "target": " build-script (run)", "start": 2, "duration": 8.75},
  {"name": "top", "target": null, "start": 3, "duration": 3.0}
];
const CONCURRENCY_DATA = [1];
</script>"""
        expected = [("zstd-sys build-script (run)", 8.75), ("top", 3.0), ("sys", 1.5)]
        self.assertEqual([(unit.name, unit.seconds) for unit in build.units_of(report)], expected)
        self.assertEqual(build.units_of("<html></html>"), [])

    def test_a_package_counts_once(self):
        tree = "finecomb v0.2.0 (/src/crates/comb)\nlibc v0.2.1\nlibc v0.2.1 (*)\n\nsyn v2.0.1\nsyn v3.0.0 (proc-macro)\n"
        expected = {"finecomb v0.2.0", "libc v0.2.1", "syn v2.0.1", "syn v3.0.0"}
        self.assertEqual(build.packages_of(tree), expected)

    def test_the_files_that_are_changed_exist(self):
        for crate, file in build.CHANGED.items():
            self.assertTrue((build.ROOT / file).is_file(), crate)
            self.assertTrue(file.startswith(f"crates/{crate}/"))


if __name__ == "__main__":
    unittest.main()
