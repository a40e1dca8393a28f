#!/usr/bin/python3
"""After exec, peers' writes to the old program do not reach the memory of the new one."""

import unittest

import fabric

TIMES = 20


class Exec(unittest.TestCase):
    def test_heir_is_not_written_to(self):
        with fabric.Fabric() as own:
            own.up()
            said = own.run_on_urnic(own.verbs_program("verbs_exec"), TIMES)
            self.assertIn(f"0 of {TIMES} were written to", said)


if __name__ == "__main__":
    unittest.main()
