// The page of a capture file: its connections, and the ladder and curves of one of them.

import { ask } from "./server.js";
import { html, say } from "./elements.js";
import { count, duration, scaled } from "./numbers.js";
import { attempt } from "./notice.js";
import { Curve } from "./curve.js";
import { LadderPanel } from "./ladder_panel.js";

const kAtOnce = 500; // arrows in the ladder

export class FilePage {
  #content;
  #source = document.getElementById("source");
  #progress;
  #connections = null;
  #view = null;

  constructor(content, progress) {
    this.#content = content;
    this.#progress = progress;
    document.title = `${progress.name} – urnic`;
  }

  async show(address) {
    if (!this.#connections && !await attempt(() => this.#load())) return;
    const wanted = Number(address.get("connection") ?? NaN);
    if (this.#connections[wanted]) this.#showConnection(wanted);
    else this.#showTable();
  }

  async #load() {
    while (!this.#progress.read) {
      say(this.#source, `${this.#progress.name}: ${count(this.#progress.records)} records read`);
      await new Promise((resume) => setTimeout(resume, 300));
      this.#progress = await ask("api/source");
    }
    const { name, records, others, forgotten, seconds, problem } = this.#progress;
    say(this.#source, [`${name}: ${count(records)} records in ${duration(seconds * 1e6)}`, others > 0 ? `${count(others)} are no RoCE packets` : "",
      forgotten > 0 ? `the first ${count(forgotten)} packets are left out` : "", problem].filter(Boolean).join("; "));
    this.#connections = await ask("api/file/connections");
    return true;
  }

  #showTable() {
    const heads = ["Connection", "Service", "Packets", "Lost", "Sent again", "NAKs", "RNR NAKs"];
    const rows = this.#connections.slice(0, 1000).map((each, place) => {
      const both = (name) => count(each.there[name] + each.back[name]);
      const open = () => { location.hash = `connection=${place}`; };
      const button = html("button", { type: "button", onclick: (event) => { event.stopPropagation(); open(); } }, `${each.left} → ${each.right}`);
      return html("tr", { class: "opens", onclick: open }, [button, each.service, count(each.packets), both("lost"), both("retransmissions"), both("naks"), both("rnr_naks")]
        .map((content, column) => html("td", { class: column > 1 ? "number" : null }, content)));
    });
    this.#content.replaceChildren(html("section", { "aria-label": "Connections" }, html("h1", {}, "Connections"),
      this.#connections.length === 0 ? html("p", { class: "notice" }, "The capture has no RoCE packets.")
        : html("div", { class: "scroll table-window" }, html("table", {}, html("thead", {}, html("tr", {}, heads.map((text, column) => html("th", { scope: "col", class: column > 1 ? "number" : null }, text)))), html("tbody", {}, rows)))));
  }

  #showConnection(place) {
    this.#view = new ConnectionView(place, this.#connections[place]);
    this.#content.replaceChildren(this.#view.element);
    this.#view.start();
  }
}

class ConnectionView {
  #place;
  #connection;
  #from = 0;
  #where = html("p", { class: "quiet", role: "status" });
  #slider;
  #panel;
  #curves = {
    packets: new Curve("Packets", "--accent", (value) => scaled(value, "/s")), goodput: new Curve("Goodput", "--good", (value) => scaled(value, "bit/s")),
    again: new Curve("Sent again", "--again", count), lost: new Curve("Lost", "--lost", count), roundTrip: new Curve("Round trip", "--ahead", duration),
  };
  element;

  constructor(place, connection) {
    this.#place = place;
    this.#connection = connection;
    const most = Math.max(connection.packets - kAtOnce, 0);
    this.#slider = html("input", { type: "range", min: 0, max: most, step: 1, value: 0, "aria-label": "Which packets of the connection", onchange: () => this.#load(Number(this.#slider.value)) });
    const step = (by) => () => this.#load(Math.min(Math.max(this.#from + by, 0), most));
    const tools = [html("button", { type: "button", onclick: step(-kAtOnce / 2) }, "Earlier"), html("button", { type: "button", onclick: step(kAtOnce / 2) }, "Later")];
    this.#panel = new LadderPanel({ title: "Ladder", names: [connection.left, connection.right], tools, name: `ladder-${place}`,
      about: html("div", {}, this.#where, most > 0 ? this.#slider : null), open: (number) => ask(`api/file/frame?number=${number}`) });
    this.element = html("div", { class: "view" }, html("div", { class: "row" }, html("a", { href: "#" }, "← All connections")),
      html("h1", {}, `${connection.left} → ${connection.right}`), this.#panel.element,
      html("section", { class: "curves", "aria-label": "Curves" }, Object.values(this.#curves).map((curve) => html("div", { class: "card" }, curve.element))));
  }

  start() {
    this.#load(0);
    attempt(() => this.#loadSeries());
  }

  async #load(from) {
    const part = await attempt(() => ask(`api/file/arrows?connection=${this.#place}&from=${from}&count=${kAtOnce}`));
    if (!part) return;
    this.#from = part.from;
    this.#slider.value = part.from;
    say(this.#where, `Packets ${count(part.from + 1)} to ${count(part.from + part.arrows.length)} of ${count(part.of)}; times in µs since the capture's first`);
    this.#panel.ladder.show([]);
    this.#panel.ladder.show(part.arrows);
    this.#panel.ladder.toStart();
  }

  async #loadSeries() {
    const [there, back] = await ask(`api/file/series?connection=${this.#place}`);
    const points = { packets: [], goodput: [], again: [], lost: [], roundTrip: [] };
    const seconds = there.length_us / 1e6;
    there.intervals.forEach(([packets, goodput, again, lost, roundTrip], place) => {
      const time = there.start_us + place * there.length_us;
      points.packets.push([time, packets / seconds]);
      points.goodput.push([time, goodput * 8 / seconds]);
      points.again.push([time, again]);
      points.lost.push([time, lost]);
      points.roundTrip.push([time, roundTrip ?? back?.intervals[place]?.[4] ?? null]);
    });
    const end = there.start_us + there.intervals.length * there.length_us;
    for (const [name, curve] of Object.entries(this.#curves)) curve.showWhole(points[name], there.start_us, end);
  }
}
