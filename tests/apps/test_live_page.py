"""The live page's server with real programs, over HTTP; tests/web has the page itself in a browser."""

import pathlib
import unittest

from fabric import Fabric, free_port, is_listening, wait_until
from web_page import WebPage


def start_traffic(fabric, *options):
    port = free_port()
    command = ("ib_write_bw", "-x", 1, "-D", 120, "-F", "-p", port, *options)
    server = fabric.start_on_urnic(*command, "-d", "urnic0")
    wait_until(lambda: is_listening(port) or server.status is not None, f"a listening server: {server}")
    return server, fabric.start_on_urnic(*command, "-d", "urnic1", "127.0.0.1")


class LivePage(unittest.TestCase):
    def setUp(self):
        self.fabric = Fabric()
        self.addCleanup(self.fabric.stop)

    def queue_pairs(self, page):
        """The table, once a queue pair is ready to send and its peer is ready to receive."""
        rows = {}
        for name, data in page.events():
            if name == "queue_pairs":
                rows.update(data["changed"])
                for key in data["gone"]:
                    rows.pop(key)
                if {"RTR", "RTS"} <= {row["state"] for row in rows.values()}:
                    return rows
        raise AssertionError(f"only {rows}")

    def test_a_page_waits_for_a_device_process_and_follows_the_next_one(self):
        page = WebPage(self.fabric)
        running = []
        for name, data in page.events(most=20):
            if name != "overview" or running and running[-1] == data["running"]:
                continue
            running.append(data["running"])
            if len(running) == 1:
                self.fabric.up()
            elif len(running) == 2:
                self.assertEqual([device["name"] for device in data["devices"]], ["urnic0", "urnic1"])
                self.fabric.down()
            else:
                break
        self.assertEqual(running, [False, True, False])

    def test_traffic_is_seen_and_provoked(self):
        self.fabric.up()
        page = WebPage(self.fabric)
        start_traffic(self.fabric)
        rows = self.queue_pairs(page)
        sender = next(key for key, row in rows.items() if row["device"] == "urnic1")
        seen = {}
        arrows = {}
        asked = False
        for name, data in page.events(queue_pair=sender, ladder=1, most=400):
            if name == "queue_pair" and data["queue_pair"]:
                seen = data["queue_pair"]
            if name == "ladder":
                arrows.update({arrow["n"]: arrow for arrow in data["arrows"]})
                if not asked:
                    asked = True
                    status, answer = page.act("/api/fault", {"device": "urnic1", "qpn": seen["qpn"], "packets": "request",
                                                             "action": "drop", "times": 3})
                    self.assertEqual(status, 200, answer)
            lost = [arrow for arrow in arrows.values() if arrow["lost"]]
            if lost and any(arrow["again"] for arrow in arrows.values()) and any(arrow["kind"] == "nak" for arrow in arrows.values()):
                break
        else:
            self.fail(f"no loss among {len(arrows)} arrows; {page.ask('/api/source')}")
        self.assertEqual(seen["service"], "RC")
        self.assertEqual(seen["destination_device"], "urnic0")
        self.assertGreater(seen["send_queue"]["producer"], 0)
        self.assertTrue(any(arrow["kind"] == "request" and arrow["to"] == 1 for arrow in arrows.values()))
        self.assertTrue(any(arrow["to"] == 0 for arrow in arrows.values()))
        self.assertIn('rule "page 1: drop the next request', lost[0]["says"])

    def test_congestion_control_is_chosen_and_seen(self):
        self.fabric.up()
        page = WebPage(self.fabric)
        start_traffic(self.fabric)
        rows = self.queue_pairs(page)
        sender = next(key for key, row in rows.items() if row["device"] == "urnic1")
        qpn = int(sender.partition("/")[2])

        def follows(algorithm):
            """What the page is told of the sender from when it has this algorithm on."""
            for name, data in page.events(queue_pair=sender):
                requester = (data.get("queue_pair") or {}).get("requester") if name == "queue_pair" else None
                if requester is not None and (requester["congestion"] or {"algorithm": "off"})["algorithm"] == algorithm:
                    return requester["congestion"]
            raise AssertionError(f"the queue pair does not have {algorithm}")

        # What the page draws (web/page/congestion_panel.js).
        measures = {"dcqcn": {"rate_gbps", "target_gbps", "alpha"}, "timely": {"rate_gbps", "round_trip_us"},
                    "rtt": {"window_bytes", "round_trip_us", "target_delay_us"}}
        for algorithm, members in measures.items():
            with self.subTest(algorithm):
                self.assertEqual(page.act("/api/congestion", {"device": "urnic1", "qp": qpn, "congestion": algorithm})[0], 200)
                told = follows(algorithm)
                self.assertEqual({member for member in members if isinstance(told[member], (int, float))}, members)
                self.assertIsInstance(told["notifications"], int)
        self.assertIn('urnic_congestion_queue_pairs{device="urnic1",algorithm="dcqcn"}', page.request("/metrics")[2].decode())
        self.assertEqual(page.act("/api/congestion", {"device": "urnic1", "qp": qpn, "congestion": "off"})[0], 200)
        self.assertIsNone(follows("off"))
        # Of a device; the queue pair's own choice was one of its present ones.
        self.assertEqual(page.act("/api/congestion", {"device": "urnic1", "congestion": "dcqcn"})[0], 200)
        self.assertEqual({device["name"]: device["congestion"] for device in self.fabric.status()["devices"]},
                         {"urnic0": "off", "urnic1": "dcqcn"})
        status, answer = page.act("/api/congestion", {"device": "urnic1", "congestion": "dctcp"})
        self.assertNotEqual(status, 200)
        self.assertIn("dctcp", str(answer))

    def test_only_the_token_opens_and_only_what_is_allowed_is_done(self):
        self.fabric.up()
        page = WebPage(self.fabric)
        self.assertEqual(page.host, "127.0.0.1")
        for path in ("/api/source", "/api/stream", "/metrics", "/api/frame?queue_pair=urnic0/1&number=1"):
            self.assertEqual(page.request(path, token=False)[0], 401, path)
        self.assertEqual(page.request("/api/source", headers={"Host": "evil.example"})[0], 421)
        self.assertEqual(page.request("/api/source", headers={"Origin": "http://evil.example"})[0], 403)
        self.assertEqual(page.act("/api/link", {"device": "urnic0", "direction": "tx", "set": {"loss": 0.5}})[0], 200)
        self.assertEqual(page.act("/api/link", {"device": "urnic0", "direction": "tx", "set": {"loss": 7}})[0], 400)
        self.assertEqual(page.act("/api/recovery", {"device": "urnic0", "recovery": "gbn"})[0], 200)
        self.assertEqual(page.act("/api/down", {})[0], 404)
        status = self.fabric.status()
        self.assertEqual(status["devices"][0]["recovery"], "gbn")

    def test_a_kept_token_and_metrics(self):
        self.fabric.up()
        token = self.fabric.home / "token"
        page = WebPage(self.fabric, "--token-file", token)
        self.assertEqual(token.read_text().strip() if token.stat().st_uid == 0 else page.token, page.token)
        self.assertEqual(token.stat().st_mode & 0o777, 0o600)
        status, headers, text = page.request("/metrics")
        self.assertEqual(status, 200)
        self.assertIn("text/plain; version=0.0.4", headers["Content-Type"])
        self.assertIn('urnic_port_xmit_packets_total{device="urnic0"}', text.decode())

    def test_a_capture_file(self):
        golden = pathlib.Path(__file__).resolve().parents[1] / "golden" / "soft-roce.pcap"
        copy = self.fabric.home / "golden.pcap"
        copy.write_bytes(golden.read_bytes())
        page = WebPage(self.fabric, copy)
        wait_until(lambda: page.ask("/api/source")["read"], "the file is read")
        connections = page.ask("/api/file/connections")
        self.assertGreater(len(connections), 0)
        part = page.ask("/api/file/arrows", connection=0, **{"from": 0, "count": 50})
        self.assertEqual(part["from"], 0)
        frame = page.ask("/api/file/frame", number=part["arrows"][0]["n"])
        self.assertEqual(frame["icrc"], "right")
        self.assertEqual(page.request("/api/link", method="POST", body="{}")[0], 404)
        wrong = self.fabric.run(self.fabric.urnic, "web", self.fabric.home / "nothing.pcap", status=2)
        self.assertIn("nothing.pcap", wrong)


if __name__ == "__main__":
    unittest.main()
