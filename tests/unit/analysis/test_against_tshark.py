"""The fields of frames as analysis/dissection reads them, against what tshark reads of the same files.

usage: test_against_tshark.py PRINT_FIELDS INFINIBAND_CAPTURE CAPTURE...

INFINIBAND_CAPTURE is a program that writes one more capture.
"""

import collections
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
# tshark shows these as bytes, and each twice: the header is a field, too.
AS_BYTES = {"infiniband.immdt", "infiniband.ieth"}
# Addresses that tshark 4.0 shows as bytes, or in a field for each kind of address.
ADDRESSES = {f"infiniband.cm.req.{name}" for name in (
    "prim_localgid", "prim_remotegid", "alt_localgid", "alt_remotegid", "ip_cm.sip6", "ip_cm.dip6")}
# tshark 4.0 shows the upper 12 bits of the flow label, which has 20 (IBTA 12.7), and other bits as the packet rate.
WRONG_IN_TSHARK = {f"infiniband.cm.req.{path}_{name}" for path in ("prim", "alt") for name in ("flowlabel", "pktrate")}
LEFT_OUT = ADDRESSES | WRONG_IN_TSHARK
# In Wireshark by docs/wireshark/urnic.lua, which has a test of its own.
OWN = "urnic."


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def normal(field, text):
    """A value in a form that both write."""
    text = text.strip().lower().replace(" ", "")
    if field in AS_BYTES:
        return int(text.removeprefix("0x").replace(":", ""), 16)
    if text.startswith("0x"):
        return int(text, 16)
    return int(text) if text.isdigit() else text


class AgainstTshark(unittest.TestCase):
    def test_every_name_of_wireshark_is_one(self):
        known = {line.split("\t")[2] for line in run("tshark", "-G", "fields").splitlines() if line.startswith("F\t")}
        names = [line.split() for line in run(PRINT_FIELDS, "--names").splitlines()]
        self.assertGreater(len(names), 100)
        self.assertEqual([pair for pair in names if pair[1] not in known and not pair[1].startswith(OWN)], [])

    def test_values(self):
        compared = self.compare(CAPTURES)
        self.assertGreater(len(compared), 80, sorted(compared))
        self.assertGreater(sum(compared.values()), 10000)

    def test_values_of_infiniband(self):
        with tempfile.TemporaryDirectory(prefix="urnic-infiniband-") as folder:
            capture = str(pathlib.Path(folder) / "infiniband.pcap")
            run(INFINIBAND_CAPTURE, capture)
            compared = self.compare([capture])
            packets = len(run("tshark", "-r", capture).splitlines())
            self.assertEqual(run("tshark", "-r", capture, "-Y", "_ws.malformed"), "")
        self.assertGreater(packets, 100)
        for field in ("lrh.vl", "lrh.sl", "lrh.dlid", "lrh.slid", "lrh.pktlen", "bth.opcode", "bth.psn"):
            self.assertEqual(compared[f"infiniband.{field}"], packets, field)
        for field in ("grh.sgid", "grh.dgid", "grh.paylen", "invariant.crc", "variant.crc"):
            self.assertGreater(compared[f"infiniband.{field}"], 50, field)
        self.assertEqual(compared["infiniband.smplid.mkey"], 2)
        self.assertEqual(compared["infiniband.smpdirected.initialpath"], 1)
        for field in ("rmpp.rmpptype", "rmpp.segmentnumber", "rmpp.payloadlength", "sa.smkey", "sa.componentmask"):
            self.assertEqual(compared[f"infiniband.{field}"], 1, field)

    def compare(self, captures):
        """How often each field was the same in both."""
        compared = collections.Counter()
        for capture in captures:
            ours = collections.defaultdict(list)
            for line in run(PRINT_FIELDS, capture).splitlines():
                frame, field, value = line.split(" ", 2) if line.count(" ") > 1 else (*line.split(" "), "")
                ours[field, int(frame)].append(value)
            fields = sorted({field for field, _ in ours if field not in LEFT_OUT and not field.startswith(OWN)})
            theirs = run("tshark", "-o", "ip.decode_tos_as_diffserv:TRUE", "-r", capture, "-T", "fields", "-E",
                         "separator=|", "-E", "occurrence=a", "-E", "aggregator=;",
                         *(word for field in fields for word in ("-e", field))).splitlines()
            for number, line in enumerate(theirs, 1):
                for field, cell in zip(fields, line.split("|")):
                    if not cell or (field, number) not in ours:
                        continue
                    with self.subTest(capture=capture, frame=number, field=field):
                        seen = [normal(field, value) for value in cell.split(";")]
                        self.assertEqual(list(dict.fromkeys(seen)) if field in AS_BYTES else seen,
                                         [normal(field, value) for value in ours[field, number]])
                    compared[field] += 1
        return compared


if __name__ == "__main__":
    PRINT_FIELDS, INFINIBAND_CAPTURE, *CAPTURES = sys.argv[1:]
    if shutil.which("tshark") is None:
        print("tshark is not installed: nothing was compared")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
