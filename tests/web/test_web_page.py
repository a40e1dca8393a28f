"""The live page in a browser, with real programs running."""

import json
import os
import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "apps"))

from browser import Browser  # noqa: E402
from fabric import Fabric, free_port, is_listening, wait_until  # noqa: E402
from web_page import WebPage  # noqa: E402

PICTURES = os.environ.get("URNIC_WEB_PICTURES")


def start_traffic(fabric, *options):
    port = free_port()
    command = ("ib_write_bw", "-x", 1, "-D", 300, "-F", "-p", port, *options)
    server = fabric.start_on_urnic(*command, "-d", "urnic0")
    wait_until(lambda: is_listening(port) or server.status is not None, f"a listening server: {server}")
    return server, fabric.start_on_urnic(*command, "-d", "urnic1", "127.0.0.1")


class Page(unittest.TestCase):
    def setUp(self):
        self.fabric = Fabric()
        self.addCleanup(self.fabric.stop)

    def browser(self, *arguments, **options):
        browser = Browser(**options)
        self.addCleanup(browser.__exit__)
        return browser

    def picture(self, browser, name, **how):
        if PICTURES:
            browser.screenshot(pathlib.Path(PICTURES) / f"{name}.png", **how)

    def sender(self, page):
        for name, data in page.events():
            for key, row in data.get("changed", {}).items() if name == "queue_pairs" else ():
                if row["device"] == "urnic1" and row["state"] == "RTS":
                    return key
        raise AssertionError("no queue pair sends")

    def test_the_overview_follows_programs(self):
        self.fabric.up()
        page = WebPage(self.fabric)
        browser = self.browser()
        browser.open(page.address)
        browser.wait("document.querySelectorAll('article').length === 2", "two devices")
        self.assertNotIn("token", browser.evaluate("location.href"))
        self.assertIn("There are none.", browser.text())
        start_traffic(self.fabric)
        browser.wait("document.querySelector('tbody .RTS') && document.querySelectorAll('tbody tr.opens').length === 2", "two queue pairs")
        browser.wait("[...document.querySelectorAll('.curve path')].some((path) => path.getAttribute('d').length > 80)", "curves")
        self.assertIn("ib_write_bw", browser.text())
        self.picture(browser, "overview")
        browser.colours("dark")
        self.picture(browser, "overview-dark")
        browser.colours("light")
        browser.resize(390, 844)
        self.picture(browser, "overview-phone")
        self.assertLessEqual(browser.evaluate("document.documentElement.scrollWidth"), 390, "the page is wider than a phone")
        # A slider is moved: the link gets the setting, and the curve of losses rises.
        browser.resize(1280, 900)
        browser.evaluate("""document.querySelector('article:nth-of-type(2) details').open = true;
            const slider = document.querySelector('[aria-label="Loss of urnic1"]');
            slider.value = 5; slider.dispatchEvent(new Event('input')); slider.dispatchEvent(new Event('change'));""")
        wait_until(lambda: json.loads(self.fabric.run(self.fabric.urnic, "link", "show", "--json"))["urnic1"]["tx"]["settings"]["loss"] == 0.01,
                   "the loss that the slider asks for")
        browser.wait("document.querySelector('[aria-label=\"Loss of urnic1\"]').getAttribute('aria-valuetext') === '1.00 %'")
        browser.wait("document.body.innerText.match(/Lost on the link\\s+[1-9]/)", "losses in a curve")
        if PICTURES:
            time.sleep(20)  # for curves that show something
        self.picture(browser, "live-page-overview", scale=0.75)
        self.assertEqual(browser.errors, [])

    def test_one_queue_pair(self):
        self.fabric.up()
        page = WebPage(self.fabric)
        start_traffic(self.fabric, "-s", 16384)
        sender = self.sender(page)
        browser = self.browser(width=1280, height=1600)
        browser.open(page.address)
        # By keyboard: the row's button is reached and pressed.
        browser.wait(f"[...document.querySelectorAll('tbody button')].some((button) => button.textContent === '{sender}')")
        browser.evaluate(f"[...document.querySelectorAll('tbody button')].find((button) => button.textContent === '{sender}').focus()")
        browser.press("Enter")
        browser.wait("document.querySelector('.machine .present text')?.textContent === 'RTS'", "the present state")
        browser.wait("document.querySelectorAll('.strip rect.in_flight').length > 0 || document.querySelectorAll('.strip rect').length > 2", "the strip")
        browser.wait("document.querySelectorAll('.ladder .arrow').length > 10", "arrows")
        browser.wait_for_text("RDMA_WRITE")
        self.assertIn("urnic0", browser.text())
        # A fault: the next requests are dropped, which is seen at once.
        browser.evaluate("document.querySelector('[aria-label=\"How many packets\"]').value = 3")
        browser.evaluate("document.querySelector('.faults').previousSibling.querySelector('select').value = 'request'")
        browser.click("[data-fault=drop]")
        browser.wait("document.querySelector('#last-loss').click(), document.querySelector('.ladder .lost.chosen')", "a lost packet")
        self.assertEqual(browser.evaluate("document.querySelector('#pause').getAttribute('aria-pressed')"), "true")
        browser.wait("document.querySelector('.ladder .again') || void (document.querySelector('.ladder-window').scrollTop += 100)", "its repeat")
        self.assertTrue(browser.evaluate("Boolean(document.querySelector('.ladder .nak'))"), "a NAK in sight")
        # A frame opens as fields, and a field marks its bytes.
        browser.evaluate("document.querySelector('.ladder .again').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        browser.wait("document.querySelector('.dissection li button')", "fields")
        browser.evaluate("[...document.querySelectorAll('.dissection li button')].find((button) => button.title === 'bth.psn').click()")
        self.assertEqual(browser.evaluate("document.querySelectorAll('.hex .marked').length"), 3)
        # On a long and lossy link the strip shows what becomes of packets; the ladder stands still.
        self.fabric.run(self.fabric.urnic, "link", "set", "urnic1", "delay_us=300", "loss=0.02")
        browser.wait("document.querySelector('.strip .in_flight') && document.querySelector('.strip .arrived_ahead')", "packets ahead of a lost one")
        browser.evaluate("document.querySelector('#notice').hidden = true")
        self.picture(browser, "live-page-queue-pair", height=1850, scale=0.7)
        browser.colours("dark")
        self.picture(browser, "queue-pair-dark")
        browser.colours("light")
        # Keys in the ladder.
        browser.evaluate("document.querySelector('.ladder-window').focus()")
        browser.press("ArrowDown")
        browser.wait("document.querySelector('.ladder .chosen')", "a chosen arrow")
        # Pictures and captures are saved.
        saved = browser.evaluate("""(async () => {
            const blobs = new Map();
            const sizes = {};
            const [make, click] = [URL.createObjectURL, HTMLAnchorElement.prototype.click];
            URL.createObjectURL = (blob) => { const address = make(blob); blobs.set(address, blob.size); return address; };
            HTMLAnchorElement.prototype.click = function () { sizes[this.download.split('.').pop()] = blobs.get(this.href); };
            for (const name of ['SVG', 'PNG', 'pcapng']) [...document.querySelectorAll('.ladder-bar button')].find((button) => button.textContent === name).click();
            for (let wait = 0; wait < 100 && Object.keys(sizes).length < 3; ++wait) await new Promise((resume) => setTimeout(resume, 100));
            [URL.createObjectURL, HTMLAnchorElement.prototype.click] = [make, click];
            return sizes;
        })()""")
        self.assertEqual(sorted(saved), ["pcapng", "png", "svg"])
        self.assertTrue(all(size > 1000 for size in saved.values()), saved)
        browser.resize(390, 844)
        self.assertLessEqual(browser.evaluate("document.documentElement.scrollWidth"), 390, "the page is wider than a phone")
        self.picture(browser, "queue-pair-phone")
        self.assertEqual(browser.errors, [])

    def test_congestion_control(self):
        self.fabric.up()
        page = WebPage(self.fabric)
        start_traffic(self.fabric)
        sender = self.sender(page)
        browser = self.browser(width=1280, height=1600)
        browser.open(page.address)
        browser.wait("document.querySelectorAll('article').length === 2", "two devices")

        def choose(where, algorithm):
            browser.evaluate(f"""(() => {{ const choice = document.querySelector('{where} [data-choice=congestion]');
                choice.value = '{algorithm}'; choice.dispatchEvent(new Event('change')); }})()""")

        # Of a device: its queue pairs get the algorithm.
        choose('[aria-label="Device urnic1"]', "dcqcn")
        wait_until(lambda: {device["name"]: device["congestion"] for device in self.fabric.status()["devices"]}["urnic1"] == "dcqcn",
                   "the algorithm that was chosen")
        browser.wait(f"[...document.querySelectorAll('tbody button')].some((button) => button.textContent === '{sender}')")
        browser.evaluate(f"[...document.querySelectorAll('tbody button')].find((button) => button.textContent === '{sender}').click()")
        panel = "document.querySelector('[aria-label=\"Congestion control\"]')"
        browser.wait(f"{panel} && !{panel}.hidden && {panel}.innerText.includes('Alpha')", "the rate and alpha")
        self.assertFalse(browser.evaluate(f"{panel}.innerText.includes('Window')"))
        browser.wait(f"[...{panel}.querySelectorAll('.curve path')].some((path) => path.getAttribute('d')?.split('L').length > 3)", "a curve")
        # Of this queue pair.
        choose("h1 ~ label", "rtt")
        browser.wait(f"{panel}.innerText.includes('Target delay') && !{panel}.innerText.includes('Alpha')", "window and target delay")
        self.picture(browser, "congestion", height=2400)
        choose("h1 ~ label", "off")
        browser.wait(f"{panel}.hidden", "no panel without congestion control")
        self.assertEqual(browser.errors, [])

    def test_a_thousand_queue_pairs(self):
        self.fabric.up()
        page = WebPage(self.fabric)
        script = self.fabric.home / "thousand_qps.py"
        script.write_bytes((HERE / "thousand_qps.py").read_bytes())
        program = self.fabric.start_on_urnic("python3", script, "urnic0", 1000)
        program.wait_for_output("1000 queue pairs are ready")
        browser = self.browser()
        browser.open(page.address)
        browser.wait_for_text("200 of 1\u202f000")
        self.assertEqual(browser.evaluate("document.querySelectorAll('tbody tr.opens').length"), 200)
        # The filter finds one of all.
        key = browser.evaluate("document.querySelector('tbody tr.opens button').textContent")
        browser.evaluate(f"""const filter = document.querySelector('input[type=search]'); filter.value = '{key}';
            filter.dispatchEvent(new Event('input'))""")
        browser.wait("document.querySelectorAll('tbody tr.opens').length < 20", "few rows")
        self.picture(browser, "thousand")
        # At rest nearly nothing is sent.
        sizes = [len(json.dumps(data)) for name, data in page.events(most=6) if name == "queue_pairs"]
        self.assertEqual(len(sizes), 1, "rows that rest are told once")
        self.assertEqual(browser.errors, [])

    def test_a_million_packets(self):
        file = self.fabric.home / "million.pcap"
        self.fabric.run("python3", "-c", (HERE / "million_packets.py").read_text(), file, 1_000_000)
        page = WebPage(self.fabric, file)
        browser = self.browser(height=1000)
        browser.open(page.address)
        browser.wait("document.querySelectorAll('tbody tr.opens').length >= 1", "connections", timeout=300)
        self.picture(browser, "file-connections")
        browser.click("tbody tr.opens button")
        browser.wait("document.querySelectorAll('.ladder .arrow').length > 5", "arrows")
        # Somewhere near a loss in the middle.
        browser.evaluate("""const slider = document.querySelector('[aria-label="Which packets of the connection"]');
            slider.value = 500900; slider.dispatchEvent(new Event('change'))""")
        browser.wait_for_text("Packets 500")
        browser.wait("document.querySelectorAll('.curve path[d]').length > 3", "curves")
        self.picture(browser, "file-ladder")
        self.assertLess(browser.evaluate("document.querySelectorAll('*').length"), 5000, "only what is in sight is in the page")
        self.assertEqual(browser.errors, [])


if __name__ == "__main__":
    unittest.main()
