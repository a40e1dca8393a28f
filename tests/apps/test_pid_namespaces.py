#!/usr/bin/python3
"""The device process and each program in PID namespaces of their own, beside each other, as in containers of one user: no number
that one has means anything to the other, and neither sees the other's /proc."""

import unittest

import fabric

# As the root of a user namespace, with a /proc that knows the namespace's own processes.
BESIDE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child")


class FabricBeside(fabric.Fabric):
    """Its device process ends with the PID namespace, as that ends with its first process."""

    def device_process(self):
        return None  # the number in the run directory is another process's here


class PidNamespaces(unittest.TestCase):
    def setUp(self):
        self.fabric = self.enterContext(FabricBeside())
        tried = self.fabric.start(*BESIDE, "true")
        if tried.wait() != 0:
            self.skipTest(f"no PID namespaces for an ordinary user here: {tried.output().strip()}")
        self.fabric.start(*BESIDE, "sh", "-c", '"$0" up && exec sleep infinity', self.fabric.urnic)
        fabric.wait_until((self.fabric.run_directory / "admin.sock").is_socket, "the device process")

    def start(self, *command):
        return self.fabric.start(*BESIDE, *self.fabric.on_urnic(*command))

    def test_payload_is_moved_between_programs(self):
        for command in ("ibv_rc_pingpong -c -g 1", "ib_write_bw -x 1 -s 65536 -n 200", "ib_read_lat -x 1 -n 100"):
            with self.subTest(command):
                port = fabric.free_port()
                server = self.start(*command.split(), "-p", port)
                fabric.wait_until(lambda: fabric.is_listening(port) or server.status is not None, "the server")
                client = self.start(*command.split(), "-p", port, "127.0.0.1")
                self.assertEqual((client.wait(), server.wait()), (0, 0), f"{server}\n{client}\n{self.fabric.log()}")

    def test_the_device_process_sees_no_numbers(self):
        """Else the test shows nothing."""
        server = self.start("ibv_rc_pingpong", "-g", "1", "-p", fabric.free_port())
        fabric.wait_until(lambda: self.fabric.status()["contexts"], "the program's context")
        context, = self.fabric.status()["contexts"]
        self.assertEqual([(one["pid"], one["memory"]) for one in context["processes"]], [(0, "/proc/PID/mem")])
        server.kill()


if __name__ == "__main__":
    unittest.main()
