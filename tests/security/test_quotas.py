#!/usr/bin/python3
"""A program that takes all it can get is refused at its limit; a program beside it does not notice."""

import re
import unittest

import fabric

LIMITS = """
[limits]
descriptors = 600
memory_mib = 256
contexts = 40
queue_pairs = 200
completion_queues = 300
admin_connections = 20
captures = 4
"""

# The resource that a program takes, the limit that stops it, the errno, and the most that it may have got.
GREEDY = (("contexts", "contexts", "EMFILE", 20), ("memory", "memory", "ENOMEM", 8),
          ("queue_pairs", "queue_pairs", "ENOMEM", 100), ("completion_queues", "completion_queues", "ENOMEM", 150))


class Greed(unittest.TestCase):
    def limits(self, own):
        return own.status()["limits"]

    def check_bystander(self, own):
        pingpong = ("ibv_rc_pingpong", "-d", "urnic1", "-g", 1, "-n", 100)
        own.run_pair(pingpong, pingpong)

    def test_each_resource(self):
        with fabric.Fabric() as own:
            own.up(LIMITS)
            before = self.limits(own)
            for what, limit, errno, most in GREEDY:
                with self.subTest(what):
                    greedy = own.start_on_urnic(own.verbs_program("verbs_greedy"), what)
                    greedy.wait_for_output("took")
                    taken, refused = re.search(r"took (\d+) and was refused with (\w+)", greedy.output()).groups()
                    self.assertEqual(refused, errno, greedy)
                    self.assertGreater(int(taken), 0, greedy)
                    self.assertLessEqual(int(taken), most, greedy)
                    self.check_bystander(own)
                    now = self.limits(own)
                    self.assertGreater(now[limit]["used"], before[limit]["used"])
                    self.assertLessEqual(now[limit]["used"], now[limit]["all"] // 2 + before[limit]["used"] + 1)
                    greedy.kill()
                    fabric.wait_until(lambda: self.limits(own) == before, "the greedy program's things to go")

    def test_many_at_once(self):
        """Each program in turn can take half of what is left, so something is always left."""
        with fabric.Fabric() as own:
            own.up(LIMITS)
            before = self.limits(own)
            greedy = []
            for _ in range(3):
                greedy.append(own.start_on_urnic(own.verbs_program("verbs_greedy"), "queue_pairs"))
                greedy[-1].wait_for_output("took")
            self.check_bystander(own)
            for program in greedy:
                program.kill()
            fabric.wait_until(lambda: self.limits(own) == before, "the greedy programs' things to go")


if __name__ == "__main__":
    unittest.main()
