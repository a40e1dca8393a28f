#!/usr/bin/python3
"""Connections by IP address: the programs of rdmacm-utils, perftest with -R, and what is left when programs are killed."""

import filecmp
import json
import os
import signal
import time
import unittest

import fabric

RSTREAM_PORT = 7471
# Where a client finds its server: the address, and the one that it binds to itself (None: urnic chooses).
WAYS = (("127.0.0.1", None), ("127.0.0.2", "127.0.0.1"), ("192.0.2.1", None), ("192.0.2.2", "192.0.2.1"))


class RdmaCmPair:
    """A server and its client, on the device process `self.fabric`."""

    def listeners(self):
        return self.fabric.status()["rdma_cm"]["listeners"]

    def start_server(self, *command):
        """Starts a server and waits until it listens, by rdma_cm or (rstream -T f) by TCP."""
        before = self.listeners()
        server = self.fabric.start_on_urnic(*command)

        def listens():
            new = [listener for listener in self.listeners() if listener not in before]
            return new or fabric.is_listening(RSTREAM_PORT) or server.status is not None
        fabric.wait_until(listens, f"a listener: {server}")
        return server

    def pair(self, server, client, timeout=fabric.PATIENCE, server_ends=True, crashes=0, races=3):
        """Runs both to their end with status 0; returns (server's output, client's output). A server that does not end is
        killed. After a segmentation fault of the client both run again, at most `crashes` times, and at most `races` times
        after rping has closed its channel at its end before its own thread, which it does not wait for, has asked that for the
        next event: the thread ends rping with status 255 then. (Later releases wait for the thread.)"""
        first = self.start_server(*server)
        try:
            second = self.fabric.start_on_urnic(*client)
            ended = second.wait(timeout)
            if crashes > 0 and ended in (-signal.SIGSEGV, 128 + signal.SIGSEGV):
                first.kill()
                return self.pair(server, client, timeout, server_ends, crashes - 1, races)
            if races > 0 and ended == 255 and "rdma_get_cm_event: Bad file descriptor" in second.output():
                first.kill()
                return self.pair(server, client, timeout, server_ends, crashes, races - 1)
            if server_ends:
                first.wait()
        except AssertionError as hung:
            raise AssertionError(f"{hung}\nthe server: {first}\n{self.fabric.log()}") from None
        finally:
            first.kill()
        if ended != 0 or (server_ends and first.status != 0):
            raise AssertionError(f"the server: {first}\nthe client: {second}\n{self.fabric.log()}")
        return first.output(), second.output()


class RdmaCm(RdmaCmPair, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fabric = cls.enterClassContext(fabric.Fabric())
        cls.fabric.up()

    def packets(self):
        """How many packets have left the devices."""
        counters = json.loads(self.fabric.run(self.fabric.urnic, "counters", "--json"))
        return sum(counters[device]["port_xmit_packets"] for device in fabric.DEVICES)

    def test_rping(self):
        for address, source in WAYS:
            bind = ("-I", source) if source else ()
            with self.subTest(address):
                self.pair(("rping", "-s", "-V", "-C", 10), ("rping", "-c", "-a", address, *bind, "-V", "-C", 10))

    def test_rping_large(self):
        said = self.pair(("rping", "-s", "-v", "-C", 100, "-S", 60000),
                         ("rping", "-c", "-a", "127.0.0.1", "-v", "-V", "-C", 100, "-S", 60000))
        for output in said:
            self.assertIn("rdma-ping-99:", output)

    def test_rping_ipv6(self):
        for bound in ("::0", "::1"):
            with self.subTest(bound):
                self.pair(("rping", "-s", "-a", bound, "-V", "-C", 10), ("rping", "-c", "-a", "::1", "-V", "-C", 10))
        with self.subTest("IPv4 to a listener on ::"):
            self.pair(("rping", "-s", "-a", "::0", "-V", "-C", 10), ("rping", "-c", "-a", "127.0.0.1", "-V", "-C", 10))

    def test_rping_with_its_own_queue_pair(self):
        self.pair(("rping", "-s", "-q", "-V", "-C", 10), ("rping", "-c", "-q", "-a", "127.0.0.1", "-V", "-C", 10))

    def test_rping_persistent_server(self):
        server = self.start_server("rping", "-s", "-P", "-V")
        try:
            for _ in range(5):
                self.fabric.run_on_urnic("rping", "-c", "-a", "127.0.0.1", "-V", "-C", 10)
            together = [self.start_connected("rping", "-c", "-a", "127.0.0.1", "-V", "-C", 5000) for _ in range(4)]
            self.assertEqual([client.wait() for client in together], [0] * 4)
            self.assertIsNone(server.status)
        finally:
            server.kill()

    def start_connected(self, *command):
        """Starts a client and waits until it is connected: rping's server 44.0 forgets a request when the next one comes
        too soon."""
        before = self.messages("cm_tx_msgs", "rtu")
        client = self.fabric.start_on_urnic(*command)
        fabric.wait_until(lambda: self.messages("cm_tx_msgs", "rtu") > before or client.status is not None,
                          f"a connection: {client}")
        return client

    def messages(self, folder, name):
        """A counter of the connection manager on the first device."""
        return int(self.fabric.run_on_urnic("cat", f"/sys/class/infiniband/{fabric.DEVICES[0]}/ports/1/{folder}/{name}"))

    def test_rping_to_nobody(self):
        for address in ("127.0.0.1", "192.0.2.77"):
            with self.subTest(address):
                client = self.fabric.start_on_urnic("rping", "-c", "-a", address, "-C", 1)
                self.assertNotEqual(client.wait(), 0)

    def test_ucmatose(self):
        for address, source in WAYS:
            bind = ("-b", source) if source else ()
            with self.subTest(address):
                self.pair(("ucmatose",), ("ucmatose", "-s", address, *bind))

    def test_ucmatose_options(self):
        for options in (("-t", 32), ("-a", 20), ("-m",), ("-P", "ib"), ("-c", 100), ("-C", 100, "-S", 10000)):
            with self.subTest(options):
                self.pair(("ucmatose", *options), ("ucmatose", "-s", "127.0.0.1", *options))

    def test_udaddy(self):
        for address, source in WAYS:
            bind = ("-b", source) if source else ()
            with self.subTest(address):
                self.pair(("udaddy", "-c", 10), ("udaddy", "-s", address, *bind, "-c", 10))

    def test_mckey(self):
        """The receivers of a group, on both devices, get what a sender sends; -l: no QP gets its own."""
        for sender, receiver in (((), ()), (("-o",), ()), (("-l",), ("-l",))):
            with self.subTest(sender=sender, receiver=receiver):
                receivers = [self.fabric.start_on_urnic("stdbuf", "-oL", "mckey", "-m", "239.1.2.3", "-b", address, *receiver)
                             for address in ("192.0.2.1", "127.0.0.2")]
                for each in receivers:
                    each.wait_for_output("receiving data transfers")
                # A sender destroys its queue pair without waiting for its sends, so some of them may never happen.
                while any(each.status is None for each in receivers):
                    self.fabric.run_on_urnic("mckey", "-m", "239.1.2.3", "-b", "192.0.2.1", "-s", *sender)
                    time.sleep(0.2)
                self.assertEqual([each.wait() for each in receivers], [0, 0])

    def test_cmtime(self):
        said = self.pair(("cmtime", "-c", 500), ("cmtime", "-s", "127.0.0.1", "-c", 500), server_ends=False)[1]
        self.assertIn("us / conn", said)

    def test_endpoints(self):
        """rdma_create_ep and rdma_get_request, which migrates identifiers."""
        self.pair(("rdma_server",), ("rdma_client", "-s", "127.0.0.1"))
        for kind in "rx":
            with self.subTest(kind):
                self.pair(("rdma_xserver", "-c", kind), ("rdma_xclient", "-s", "127.0.0.1", "-c", kind))

    def test_rstream(self):
        for options in ((), ("-T", "b"), ("-T", "n"), ("-T", "r"), ("-T", "f"), ("-S", 1000000)):
            sizes = ("-I", 10, "-C", 100, "-T", "v", *options)
            with self.subTest(options):
                self.pair(("rstream", *sizes), ("rstream", "-s", "127.0.0.1", *sizes))

    def test_riostream(self):
        for options in ((), ("-T", "b"), ("-T", "n")):
            sizes = ("-I", 10, "-C", 100, "-S", 4096, "-T", "v", *options)
            with self.subTest(options):
                self.pair(("riostream", *sizes), ("riostream", "-s", "127.0.0.1", *sizes))

    def test_rcopy(self):
        source = self.fabric.home / "source"
        copy = self.fabric.home / "copy"
        source.write_bytes(os.urandom(5_000_001))
        source.chmod(0o644)
        self.pair(("rcopy",), ("rcopy", source, f"127.0.0.1:{copy}"), server_ends=False)
        self.assertTrue(filecmp.cmp(source, copy, shallow=False))

    def test_perftest(self):
        """Of perftest's transports, -R takes RC and UD: "UC is not supported in librdmacm", "XRC does not support RDMA_CM"."""
        for command in (("ib_send_bw",), ("ib_write_bw",), ("ib_read_bw",), ("ib_send_lat",), ("ib_write_lat",),
                        ("ib_read_lat",), ("ib_atomic_bw",), ("ib_atomic_lat",), ("ib_send_bw", "-c", "UD"),
                        ("ib_send_lat", "-c", "UD"), ("ib_write_bw", "-b", "-q", 4), ("ib_send_bw", "--use-srq"),
                        ("ib_write_bw", "-z")):
            for address in ("127.0.0.1", "192.0.2.2"):
                with self.subTest(command=command, address=address):
                    options = ("-R", "-n", 200)
                    # The server listens for the second connection once the first is up: a fast client is rejected, as
                    # on Linux, and perftest then uses what it does not have.
                    self.pair((*command, *options), (*command, *options, address), crashes=5)

    def run_check(self, own, name):
        """A check of rdma_cm_writes.py on the device process `own`."""
        own.run_on_urnic("python3", "-B", own.copy_home("rdma_cm_writes.py"), name)

    def test_writes_of_no_library(self):
        self.run_check(self.fabric, "an_identifier_whose_number_cannot_be_told_goes")
        self.run_check(self.fabric, "memory_that_cannot_be_read")
        self.run_check(self.fabric, "a_channel_that_is_closed_while_a_thread_takes_an_event")
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        with fabric.Fabric(user=None) as own:
            own.up()
            self.run_check(own, "another_user_than_the_opener")

    def test_threads_that_wait_together(self):
        for name in ("all_who_wait_wake_and_one_has_the_event", "everybody_who_waits_has_an_event",
                     "a_signal_while_a_thread_waits"):
            with self.subTest(name):
                self.run_check(self.fabric, name)

    def test_answers_that_come_with_events(self):
        self.run_check(self.fabric, "answers_that_came_with_an_event")
        self.run_check(self.fabric, "answers_that_came_with_an_event_need_no_device_process")
        self.run_check(self.fabric, "answers_that_came_with_an_event_are_written_as_others_are")
        self.run_check(self.fabric, "answers_that_came_with_an_event_end_with_the_identifier")

    def test_events_that_come_with_their_tokens(self):
        self.run_check(self.fabric, "an_event_needs_no_device_process")
        self.run_check(self.fabric, "an_event_that_nobody_has_taken_goes_with_its_identifier")
        self.run_check(self.fabric, "events_are_reported_as_often_as_they_are_taken")

    def test_accept_without_an_answer(self):
        self.run_check(self.fabric, "the_active_sides_accept_needs_no_device_process")
        self.run_check(self.fabric, "an_accept_is_refused_when_the_peer_is_gone")
        self.run_check(self.fabric, "an_accept_that_the_peers_end_overtakes")

    def test_the_port_of_a_killed_listener_is_free_at_once(self):
        listener = self.start_server("rping", "-s", "-P", "-p", 7777)
        for _ in range(20):
            listener.kill()
            listener = self.fabric.start_on_urnic("rping", "-s", "-P", "-p", 7777)
            fabric.wait_until(lambda: self.listeners() or listener.status is not None, f"a listener: {listener}")
            self.assertIsNone(listener.status, listener)
        listener.kill()
        self.check_nothing_is_left()

    def test_counters_of_messages(self):
        """They are where Linux has them, and grow with each connection."""
        names = ("req", "rep", "rtu", "dreq", "drep")
        before = {name: self.messages("cm_tx_msgs", name) for name in names}
        self.pair(("rping", "-s", "-C", 1), ("rping", "-c", "-a", "127.0.0.1", "-C", 1))
        fabric.wait_until(lambda: all(self.messages("cm_tx_msgs", name) > before[name] for name in names), "messages counted")
        self.assertGreater(self.messages("cm_rx_msgs", "req"), 0)
        for folder in ("cm_tx_msgs", "cm_tx_retries", "cm_rx_msgs", "cm_rx_duplicates"):
            for name in (*names, "mra", "rej", "sidr_req", "sidr_rep", "lap", "apr"):
                self.assertGreaterEqual(self.messages(folder, name), 0)

    def test_killed_programs_leave_nothing(self):
        """Client or server killed: the other one hears of it, and nothing is left."""
        for killed in ("client", "server"):
            with self.subTest(killed):
                server = self.start_server("rping", "-s", "-C", 1000000)
                client = self.fabric.start_on_urnic("rping", "-c", "-a", "127.0.0.1", "-C", 1000000)
                before = self.packets()
                fabric.wait_until(lambda: self.packets() > before + 100, "a connection with traffic")
                victim, other = (client, server) if killed == "client" else (server, client)
                os.killpg(victim.pid, signal.SIGKILL)
                other.wait()
                self.assertIn("DISCONNECT EVENT", other.output())
                self.check_nothing_is_left()

    def test_killed_in_the_middle_of_connecting(self):
        server = self.start_server("cmtime", "-c", 1000)
        for milliseconds in (10, 30, 100, 200, 400):
            client = self.fabric.start_on_urnic("timeout", "-s", "KILL", milliseconds / 1000, "cmtime", "-s", "127.0.0.1",
                                                "-c", 1000)
            client.wait()
        server.kill()
        self.check_nothing_is_left()

    def check_nothing_is_left(self):
        """Connections end after their time wait; DREQs that nobody answers are repeated before."""
        def is_empty():
            status = self.fabric.status()
            return (status["rdma_cm"] == {"identifiers": 0, "connections": 0, "listeners": []} and
                    status["limits"]["rdma_cm_ids"]["used"] == 0 and not status["contexts"])
        fabric.wait_until(is_empty, "nothing left of killed programs")


if __name__ == "__main__":
    unittest.main()
