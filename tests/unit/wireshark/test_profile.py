"""docs/wireshark/profile in tshark: every filter of it is one, its columns show what they name.

usage: test_profile.py PROGRAM PROFILE
"""
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77


def lines_of(name):
    """Lines of a file of the profile that are no comments."""
    return [line for line in (PROFILE / name).read_text().splitlines() if line and not line.startswith("#")]


class Profile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="urnic-profile-")))
        shutil.copytree(PROFILE, cls.home / ".config" / "wireshark" / "profiles" / "urnic")
        cls.capture = str(cls.home / "selective-acks.pcap")
        subprocess.run([PROGRAM, cls.capture], check=True)

    def tshark(self, *arguments):
        environment = {**os.environ, "HOME": str(self.home), "XDG_CONFIG_HOME": ""}
        done = subprocess.run(["tshark", "-r", self.capture, *arguments], env=environment, capture_output=True, text=True,
                              timeout=60)
        complaints = [line for line in done.stderr.splitlines() if "Running as user" not in line]
        self.assertEqual((done.returncode, complaints), (0, []))
        return done.stdout

    def check_filters(self, expressions):
        """All at once, since each start of tshark takes a second; one by one if one of them is wrong."""
        try:
            self.tshark("-Y", " or ".join(f"({expression})" for expression in expressions))
        except AssertionError:
            for expression in expressions:
                with self.subTest(expression):
                    self.tshark("-Y", expression)
            raise

    def test_colours(self):
        rules = [re.fullmatch(r"@([^@]+)@([^@]+)@\[(\d+),(\d+),(\d+)\]\[(\d+),(\d+),(\d+)\]", line)
                 for line in lines_of("colorfilters")]
        self.assertGreater(len(rules), 10)
        self.check_filters([rule[2] for rule in rules])
        for rule in rules:
            luminances = [sum(weight * (int(part) / 65535)**2.2 for weight, part in zip((0.2126, 0.7152, 0.0722), parts))
                          for parts in (rule.groups()[2:5], rule.groups()[5:8])]
            # The least contrast of text that is easily read (WCAG 2.1, 1.4.3).
            self.assertGreater((max(luminances) + 0.05) / (min(luminances) + 0.05), 4.5, rule[1])

    def test_buttons_and_filters(self):
        buttons = list(csv.reader(line.replace(r"\x22", '""') for line in lines_of("dfilter_buttons")))
        self.assertGreater(len(buttons), 5)
        self.assertEqual({shown for shown, *_ in buttons}, {"TRUE"})
        named = [re.fullmatch(r'"[^"]+" (.+)', line)[1] for line in lines_of("dfilters")]
        self.check_filters([expression for _, _, expression, _ in buttons] + named)

    def test_columns(self):
        rows = self.tshark("-C", "urnic").splitlines()
        self.assertRegex(rows[2], r"192\.0\.2\.1.*192\.0\.2\.2.*0x000012.*\b100\b")

    # The test can fail: tshark says of a wrong filter that it is one.
    def test_a_wrong_filter_is_found(self):
        with self.assertRaises(AssertionError):
            self.tshark("-Y", "(infiniband) or (infiniband.bth.no_such_field == 1)")


if __name__ == "__main__":
    PROGRAM, PROFILE = sys.argv[1], pathlib.Path(sys.argv[2])
    if shutil.which("tshark") is None:
        print("tshark is not installed: nothing was tested")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
