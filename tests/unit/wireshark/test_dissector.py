"""docs/wireshark/urnic.lua in tshark, on a capture made by the program beside this script.

usage: test_dissector.py PROGRAM URNIC.LUA
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
FIELDS = ("urnic.sack.syndrome", "urnic.sack.msn", "urnic.sack.first_missing", "urnic.sack.latest",
          "urnic.sack.earlier", "urnic.sack.arrived")
NOTHING = ("",) * len(FIELDS)
# One row for each packet of the capture, in order; "" is a field that is not shown.
EXPECTED = [
    NOTHING,
    NOTHING,
    ("0x60", "7", "100", "104", "0xfffffffffffffff5", "101, 103-104"),
    ("0x60", "7", "16777214", "2", "0xfffffffffffffff6", "16777215-0, 2"),
    NOTHING,
    ("0x60", "7", "100", "500", "0xffffffffffffffff", "436-500"),
    ("0x60", "7", "100", "99", "0xffffffffffffffff", ""),
    NOTHING,
]


class Dissector(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="urnic-dissector-")
        self.addCleanup(self.folder.cleanup)
        self.capture = str(pathlib.Path(self.folder.name) / "selective-acks.pcap")
        subprocess.run([PROGRAM, self.capture], check=True)

    def tshark(self, *arguments):
        command = ["tshark", "-X", f"lua_script:{SCRIPT}", "-r", self.capture, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("Lua", done.stderr.replace("Lua: on", ""), done.stderr)
        return done.stdout

    def test_fields(self):
        options = [option for field in FIELDS for option in ("-e", field)]
        rows = self.tshark("-T", "fields", "-E", "separator=;", *options).splitlines()
        self.assertEqual([tuple(row.split(";")) for row in rows], EXPECTED)

    def test_a_display_filter_finds_the_reports(self):
        numbers = self.tshark("-Y", "urnic.sack.latest", "-T", "fields", "-e", "frame.number").split()
        self.assertEqual(numbers, ["3", "4", "6", "7"])

    def test_the_packet_list_says_what_is_missing(self):
        self.assertIn("[missing 100, arrived 101, 103-104]", self.tshark("-Y", "frame.number == 3"))

    def test_an_offer(self):
        self.assertIn("Selective Ack Offer [reads, wants an answer]", self.tshark("-Y", "frame.number == 8"))
        numbers = self.tshark("-Y", "urnic.offer.reads == 1 && urnic.offer.gives == 0", "-T", "fields", "-e", "frame.number")
        self.assertEqual(numbers.split(), ["8"])

    # Without the script tshark shows a manufacturer's packet.
    def test_stock_tshark_shows_a_vendors_packet(self):
        done = subprocess.run(["tshark", "-r", self.capture, "-V", "-Y", "infiniband.bth.opcode == 0xf1"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("Vendor Specific or Unknown Header Sequence"), 4)
        self.assertNotIn("Malformed", done.stdout)


if __name__ == "__main__":
    PROGRAM, SCRIPT = sys.argv[1:3]
    if shutil.which("tshark") is None:
        print("tshark is not installed: nothing was tested")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
