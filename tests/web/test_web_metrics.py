"""The metrics with Debian's prometheus: promtool, a scrape, and the dashboard."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "apps"))

from fabric import Fabric, free_port, wait_until  # noqa: E402
from web_page import WebPage  # noqa: E402

DASHBOARD = HERE.parents[1] / "web" / "grafana" / "urnic.json"


class Metrics(unittest.TestCase):
    def setUp(self):
        self.fabric = Fabric()
        self.addCleanup(self.fabric.stop)
        self.fabric.up()
        self.page = WebPage(self.fabric)
        self.fabric.run_pair(("ibv_rc_pingpong", "-g", 1, "-d", "urnic0"), ("ibv_rc_pingpong", "-g", 1, "-d", "urnic1"))

    def metrics(self):
        status, _, text = self.page.request("/metrics")
        self.assertEqual(status, 200)
        return text.decode()

    def test_promtool_finds_nothing_to_complain_of(self):
        checked = subprocess.run(["promtool", "check", "metrics"], input=self.metrics(), text=True, capture_output=True, timeout=60)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))

    def test_prometheus_scrapes_them(self):
        with tempfile.TemporaryDirectory(prefix="urnic-web-prometheus-") as directory:
            folder = pathlib.Path(directory)
            (folder / "token").write_text(self.page.token)
            (folder / "prometheus.yml").write_text(json.dumps({
                "global": {"scrape_interval": "1s"},
                "scrape_configs": [{"job_name": "urnic", "authorization": {"credentials_file": str(folder / "token")},
                                    "static_configs": [{"targets": [f"{self.page.host}:{self.page.port}"]}]}]}))
            port = free_port()
            server = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                                       f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                def seen():
                    query = urllib.parse.urlencode({"query": 'urnic_rx_send_requests_total{device="urnic0"}'})
                    try:
                        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{query}", timeout=5) as answer:
                            return json.load(answer)["data"]["result"]
                    except OSError:
                        return None
                wait_until(seen, "a scraped counter", timeout=60)
                self.assertGreaterEqual(float(seen()[0]["value"][1]), 1000)
            finally:
                server.terminate()
                server.wait(30)

    def test_the_dashboard_has_only_metrics_that_there_are(self):
        named = set(re.findall(r"\burnic_\w+", DASHBOARD.read_text()))
        there = set(re.findall(r"^(urnic_\w+)", self.metrics(), re.MULTILINE))
        self.assertTrue(named)
        self.assertEqual(named - there, set())


if __name__ == "__main__":
    unittest.main()
