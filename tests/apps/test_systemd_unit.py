#!/usr/bin/python3
"""The unit of the user's service (docs/systemd.md): every configuration that it allows runs under the unit's own settings, which
refuse what they are there to refuse. `unit_settings.py` makes the settings, as no systemd runs where tests do."""

import errno
import unittest

import fabric

UNIT = ("lib", "systemd", "user", "urnic.service")
UDP = '[[devices]]\nwire = "udp"\naddresses = ["127.0.0.{}"]\n'
LAN = """
[lan]
{}
[[devices]]
mac = "02:00:00:00:00:0{number}"
gids = ["fe80::ff:fe00:{number}", "::ffff:10.9.0.{number}"]
"""


class SystemdUnit(unittest.TestCase):
    def setUp(self):
        self.one = self.enterContext(fabric.Fabric())

    def under_unit(self, on, *command):
        """The command line of a command under the unit's settings, as a fabric's user."""
        runner = on.copy_home("unit_settings.py")
        unit = on.home / "urnic.service"
        unit.write_text(on.prefix.joinpath(*UNIT).read_text())
        return ("/usr/bin/python3", "-B", runner, unit, "--", *command)

    def start(self, on, configuration=""):
        """The service, with the command of the unit and the option that docs/systemd.md adds."""
        file = on.home / "lab.toml"
        file.write_text(configuration)
        service = on.start(*self.under_unit(on, on.prefix / "libexec" / "urnic" / "urnicd", "--foreground", "--run-dir",
                                            on.run_directory, "--config", file))
        fabric.wait_until(lambda: on.device_process() is not None or service.status is not None, f"the service: {service}")
        fabric.wait_until(lambda: service.status is not None or (on.run_directory / "admin.sock").exists(), f"the service: {service}")
        self.assertIsNone(service.status, service)
        return service

    def pingpong(self, server_on, client_on, client_device):
        port = fabric.free_port()
        words = ("ibv_rc_pingpong", "-g", "0" if server_on is client_on else "1", "-c", "-n", "200", "-p", port)
        server = server_on.start_on_urnic(*words, "-d", "urnic0")
        fabric.wait_until(lambda: fabric.is_listening(port) or server.status is not None, f"a listener: {server}")
        client = client_on.start_on_urnic(*words, "-d", client_device, "127.0.0.1")
        self.assertEqual((client.wait(), server.wait()), (0, 0), f"{server}\n{client}\n{server_on.log()}\n{client_on.log()}")

    def test_the_built_in_switch(self):
        service = self.start(self.one)
        self.pingpong(self.one, self.one, "urnic1")
        self.assertNotIn("not restricted", service.output())

    def test_udp(self):
        self.start(self.one, UDP.format(71) + UDP.format(72))
        self.pingpong(self.one, self.one, "urnic1")

    def test_lans(self):
        ports = (fabric.free_port(), fabric.free_port())
        for kind, of_one, of_two in (
                ("stream", 'listen = "{0}/lan"', 'connect = "{0}/lan"'),
                ("datagrams", 'datagram = "{0}/a"\nremote = "{0}/b"', 'datagram = "{0}/b"\nremote = "{0}/a"'),
                ("UDP", f'datagram = "127.0.0.1:{ports[0]}"\nremote = "127.0.0.1:{ports[1]}"',
                 f'datagram = "127.0.0.1:{ports[1]}"\nremote = "127.0.0.1:{ports[0]}"')):
            with self.subTest(kind), fabric.Fabric() as one, fabric.Fabric() as two:
                self.start(one, LAN.format(of_one.format(one.home), number=1))
                self.start(two, LAN.format(of_two.format(one.home), number=2))
                self.pingpong(one, two, "urnic0")

    def test_what_it_refuses(self):
        """Each is allowed without the unit."""
        family, forbidden = f"OSError: [Errno {errno.EAFNOSUPPORT}]", f"Error: [Errno {errno.EPERM}]"
        for statement, refusal in (
                ("socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)", family),
                ("socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)", family),
                ("mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)", forbidden),
                ("os.mkdir('secret', 0o4700)", forbidden),
                ("os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))", forbidden),
                ("resource.setrlimit(resource.RLIMIT_CORE, (1, 1))", "ValueError")):
            with self.subTest(statement):
                python = ("/usr/bin/python3", "-c", f"import mmap, os, resource, socket\n{statement}")
                said = self.one.run(*self.under_unit(self.one, *python), status=1)
                self.assertIn(refusal, said)
        mode = self.one.run(*self.under_unit(self.one, "sh", "-c", "touch made; stat -c %a made; umask"))
        self.assertEqual(mode.split(), ["600", "0077"])

    def test_a_setting_that_is_not_tried(self):
        command = self.under_unit(self.one, "true")
        unit = self.one.home / "urnic.service"
        unit.write_text(unit.read_text().replace("UMask=", "ProtectSomething=yes\nUMask="))
        self.assertIn("ProtectSomething", self.one.run(*command, status=3))


if __name__ == "__main__":
    unittest.main()
