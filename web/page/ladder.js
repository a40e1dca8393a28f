// The ladder: packets between two ends as arrows, time going down. Draws only what is in the window, so a million
// packets cost no more than a hundred. Keys: up and down choose an arrow, Enter opens it, + and - zoom.

import { html, svg } from "./elements.js";
import { bytes, duration } from "./numbers.js";

const kTop = 46; // below the names of the lanes
const kRow = 20; // px for each event, when arrows are drawn in order
const kMargin = 96; // beside the lanes

/** Arrows in the order in which they were sent: objects of the server's arrow.cpp. */
export class Ladder {
  #arrows = [];
  #places = []; // of each arrow: [y where it is sent, y where it ends]
  #height = 0;
  #names;
  #onopen;
  #scale = 1;
  #inOrder = true;
  #chosen = null; // the number of an arrow
  #space = html("div", { class: "ladder-space" });
  #picture = svg("svg", { class: "ladder", role: "img" });
  #window;
  #tip = html("div", { class: "tip-box", hidden: true, role: "tooltip" });
  #pending = false;
  element;

  /** `names` of the two lanes; `onopen(number)` when a person opens an arrow. */
  constructor(names, onopen) {
    this.#names = names;
    this.#onopen = onopen;
    this.#window = html("div", { class: "ladder-window", tabindex: 0, role: "application", "aria-label": "Ladder of packets",
      "aria-description": "Up and down choose a packet, Enter opens it, plus and minus zoom",
      onscroll: () => this.#drawSoon(), onkeydown: (event) => this.#key(event) }, this.#space, this.#picture);
    this.element = html("div", {}, this.#window, this.#tip, html("p", { class: "hidden-text", role: "status" }));
    new ResizeObserver(() => this.#drawSoon()).observe(this.#window);
  }

  names(names) {
    this.#names = names;
    this.#drawSoon();
  }

  /** Shows these arrows. Stays at the newest if that was in sight. */
  show(arrows) {
    const atEnd = this.#window.scrollTop + this.#window.clientHeight > this.#height - 2 * kRow;
    const first = this.#firstInSight();
    this.#arrows = arrows;
    this.#arrange();
    if (atEnd) this.#window.scrollTop = this.#height;
    else if (first) this.#scrollTo(first);
    this.#drawSoon();
  }

  toStart() {
    this.#window.scrollTop = 0;
  }

  zoom(factor) {
    const first = this.#firstInSight();
    this.#scale = Math.min(Math.max(this.#scale * factor, 0.02), 400);
    this.#arrange();
    if (first) this.#scrollTo(first);
    this.#drawSoon();
  }

  /** True: one row for each event; false: true to time. */
  inOrder(yes) {
    this.#inOrder = yes;
    this.#arrange();
    this.#drawSoon();
  }

  /** Chooses an arrow and brings it to sight. */
  choose(number) {
    this.#chosen = number;
    const place = this.#arrows.findIndex((arrow) => arrow.n === number);
    if (place < 0) return;
    const [sent, end] = this.#places[place];
    if (sent < this.#window.scrollTop + kTop || end > this.#window.scrollTop + this.#window.clientHeight) {
      this.#window.scrollTop = (sent + end) / 2 - this.#window.clientHeight / 2;
    }
    const arrow = this.#arrows[place];
    this.element.lastChild.textContent = `${this.#describe(arrow).replaceAll("\n", ", ")}`;
    this.#drawSoon();
  }

  /** Chooses the last arrow for which `is(arrow)`; false if there is none. */
  chooseLast(is) {
    const found = this.#arrows.findLast(is);
    if (found) this.choose(found.n);
    return Boolean(found);
  }

  get chosen() {
    return this.#chosen;
  }

  /** The picture as it is in the window. */
  get picture() {
    return this.#picture;
  }

  // Where each arrow begins and ends. In order, every sending and every arrival has a row of its own, so nothing
  // overlaps whatever the times are.
  #arrange() {
    const ends = this.#arrows.map((arrow) => arrow.arrived ?? arrow.sent);
    if (this.#inOrder) {
      const events = [];
      this.#arrows.forEach((arrow, place) => {
        events.push([arrow.sent, place, 0]);
        if (arrow.arrived !== null) events.push([arrow.arrived, place, 1]);
      });
      events.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
      const row = kRow * Math.min(Math.max(this.#scale, 0.35), 4);
      this.#places = this.#arrows.map(() => [0, null]);
      let y = kTop + row;
      for (const [, place, which] of events) {
        if (which === 0 && this.#arrows[place].gap) y += row;
        this.#places[place][which] = y;
        y += row;
      }
      for (const place of this.#places) place[1] ??= place[0] + row * 0.9;
      this.#height = y + row;
    } else {
      const zero = this.#arrows[0]?.sent ?? 0;
      const at = (time) => kTop + kRow + (time - zero) * this.#scale * 4;
      this.#places = this.#arrows.map((arrow, place) => [at(arrow.sent), arrow.arrived === null ? at(arrow.sent) + kRow : at(ends[place])]);
      this.#height = this.#places.reduce((most, [, end]) => Math.max(most, end), 0) + 2 * kRow;
    }
    // A browser's elements cannot be higher.
    this.#space.style.height = `${Math.min(this.#height, 3e7)}px`;
  }

  #firstInSight() {
    const top = this.#window.scrollTop + kTop;
    const place = this.#places.findIndex(([, end]) => end >= top);
    return place < 0 ? null : { number: this.#arrows[place].n, offset: this.#places[place][0] - this.#window.scrollTop };
  }

  #scrollTo({ number, offset }) {
    const place = this.#arrows.findIndex((arrow) => arrow.n === number);
    if (place >= 0) this.#window.scrollTop = this.#places[place][0] - offset;
  }

  #drawSoon() {
    if (this.#pending) return;
    this.#pending = true;
    requestAnimationFrame(() => {
      this.#pending = false;
      this.#draw();
    });
  }

  #draw() {
    const width = this.#window.clientWidth;
    const height = this.#window.clientHeight;
    if (width === 0) return;
    const top = this.#window.scrollTop;
    const narrow = width < 520;
    const margin = narrow ? 34 : kMargin;
    const lanes = [margin, width - margin];
    const parts = lanes.map((x) => svg("path", { class: "lane", d: `M${x} ${kTop - 8}V${height}` }));
    this.#arrows.forEach((arrow, place) => {
      const [sent, end] = this.#places[place];
      if (Math.max(sent, end) < top + kTop - 30 || Math.min(sent, end) > top + height + 30) return;
      parts.push(this.#arrow(arrow, sent - top, end - top, lanes, narrow));
    });
    parts.push(svg("rect", { x: 0, y: 0, width, height: kTop - 8, fill: "var(--surface)" }));
    this.#names.forEach((name, lane) => parts.push(svg("text", { class: "lane-name", x: lane === 0 ? 8 : width - 8, y: 22, "text-anchor": lane === 0 ? "start" : "end" }, name)));
    this.#picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.#picture.setAttribute("height", height);
    this.#picture.setAttribute("aria-label", `${this.#arrows.length} packets between ${this.#names.join(" and ")}`);
    this.#picture.replaceChildren(...parts);
    if (this.#arrows.length === 0) this.#picture.append(svg("text", { x: width / 2, y: height / 2, "text-anchor": "middle", class: "time" }, "No packet yet"));
  }

  #arrow(arrow, y1, y2, lanes, narrow) {
    const [from, to] = arrow.to === 0 ? [lanes[1], lanes[0]] : lanes;
    const stop = arrow.lost ? from + (to - from) * 0.62 : to;
    const yStop = arrow.lost ? y1 + (y2 - y1) * 0.62 : y2;
    const length = Math.hypot(stop - from, yStop - y1);
    const [dx, dy] = [(stop - from) / length, (yStop - y1) / length];
    const line = `M${from} ${y1.toFixed(1)}L${stop.toFixed(1)} ${yStop.toFixed(1)}`;
    const end = arrow.lost
      ? svg("path", { class: "cross", d: `M${stop - 6} ${yStop - 6}l12 12M${stop + 6} ${yStop - 6}l-12 12` })
      : svg("polygon", { class: "tip", points: `${stop},${yStop} ${stop - dx * 10 - dy * 4},${yStop - dy * 10 + dx * 4} ${stop - dx * 10 + dy * 4},${yStop - dy * 10 - dx * 4}` });
    const angle = Math.atan2(y2 - y1, Math.abs(to - from)) * 180 / Math.PI * (to > from ? 1 : -1);
    const [mx, my] = [(from + to) / 2, (y1 + y2) / 2 - 4];
    const room = Math.floor((Math.abs(to - from) - 24) / 7.3);
    const label = `${arrow.label}${arrow.again ? " again" : ""}`;
    const shown = label.length > room ? `${label.slice(0, Math.max(room - 1, 0))}…` : label;
    const parts = [svg("path", { class: "line", d: line }), svg("path", { class: "reach", d: line }), end,
      svg("text", { x: mx, y: my, "text-anchor": "middle", transform: `rotate(${angle.toFixed(2)} ${mx} ${my})` }, shown)];
    if (!narrow) parts.push(svg("text", { class: "time", x: from < to ? from - 6 : from + 6, y: y1 + 4, "text-anchor": from < to ? "end" : "start" }, this.#time(arrow.sent)));
    if (arrow.gap) parts.unshift(svg("path", { class: "gap", d: `M${lanes[0]} ${y1 - 14}H${lanes[1]}` }), svg("text", { class: "time", x: (lanes[0] + lanes[1]) / 2, y: y1 - 18, "text-anchor": "middle" }, "packets that were not looked at"));
    const kinds = `arrow ${arrow.kind}${arrow.lost ? " lost" : ""}${arrow.again ? " again" : ""}${arrow.n === this.#chosen ? " chosen" : ""}`;
    return svg("g", { class: kinds, "data-n": arrow.n, onclick: () => this.#open(arrow.n), onpointermove: (event) => this.#hover(arrow, event), onpointerleave: () => { this.#tip.hidden = true; } }, parts);
  }

  #time(us) {
    return us < 1e6 ? `${us.toFixed(1)}` : `${(us / 1e6).toFixed(6)} s`;
  }

  #describe(arrow) {
    const took = arrow.arrived === null ? "" : `, ${duration(arrow.arrived - arrow.sent)} on its way`;
    return `Frame ${arrow.n}: ${arrow.label}\n${bytes(arrow.bytes)}, ${bytes(arrow.payload)} of payload${arrow.asks ? ", asks for an acknowledgement" : ""}${took}${arrow.headers ? `\n${arrow.headers}` : ""}\n${arrow.says}`;
  }

  #hover(arrow, event) {
    this.#tip.textContent = this.#describe(arrow);
    this.#tip.hidden = false;
    const beside = event.clientX > innerWidth / 2 ? -this.#tip.offsetWidth - 14 : 14;
    this.#tip.style.left = `${event.clientX + beside}px`;
    this.#tip.style.top = `${Math.min(event.clientY + 14, innerHeight - this.#tip.offsetHeight - 8)}px`;
  }

  #open(number) {
    this.choose(number);
    this.#onopen(number);
  }

  #key(event) {
    const place = this.#arrows.findIndex((arrow) => arrow.n === this.#chosen);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      const next = place < 0 ? this.#arrows.findIndex((arrow, index) => this.#places[index][0] >= this.#window.scrollTop + kTop) : place + step;
      if (this.#arrows[next]) this.choose(this.#arrows[next].n);
    } else if (event.key === "Enter" && place >= 0) this.#onopen(this.#chosen);
    else if (event.key === "+") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else return;
    event.preventDefault();
  }
}
