// How one queue pair avoids congestion: what it may send now, what that follows from, and its course.

import { facts, html } from "./elements.js";
import { bytes, count, duration, scaled } from "./numbers.js";
import { Curve } from "./curve.js";

const bits = (gbps) => scaled(gbps * 1e9, "bit/s");

// Of what the algorithms have, by the names of docs/admin-socket.md.
const kMeasures = [
  ["rate_gbps", "Rate", "--good", bits],
  ["target_gbps", "Target rate", "--accent", bits],
  ["window_bytes", "Window", "--good", bytes],
  ["alpha", "Alpha", "--again", (value) => value.toFixed(3)],
  ["round_trip_us", "Last round trip", "--accent", duration],
  ["target_delay_us", "Target delay", "--again", duration],
];
const kMost = 600; // points; more than two minutes at four a second

export class CongestionPanel {
  #facts = html("div");
  #curves = kMeasures.map(([member, title, colour, format]) => ({ member, points: [], curve: new Curve(title, colour, format) }));
  #algorithm = null;
  element = html("section", { class: "card", "aria-label": "Congestion control", hidden: true }, html("h2", {}, "Congestion control"), this.#facts,
    html("div", { class: "curves" }, this.#curves.map(({ curve }) => curve.element)));

  /** `congestion` is null without an algorithm; `time`: of the server, in milliseconds. */
  show(congestion, time) {
    this.element.hidden = !congestion;
    if (this.#algorithm !== (congestion?.algorithm ?? null)) this.#begin(congestion?.algorithm ?? null);
    if (!congestion) return;
    this.#facts.replaceChildren(facts([
      ["Algorithm", congestion.algorithm],
      ["Notifications", count(congestion.notifications)],
      ...kMeasures.filter(([member]) => typeof congestion[member] === "number")
        .map(([member, title, , format]) => [title, format(congestion[member])])]));
    for (const each of this.#curves) this.#append(each, congestion[each.member], time);
  }

  // Another algorithm's numbers mean something else.
  #begin(algorithm) {
    this.#algorithm = algorithm;
    for (const { points } of this.#curves) points.length = 0;
  }

  // A measure that the algorithm does not have, or has never had a value, has no curve.
  #append({ points, curve }, value, time) {
    points.push([time, value ?? null]);
    if (points.length > kMost) points.shift();
    curve.element.hidden = points.every(([, each]) => each === null);
    if (!curve.element.hidden) curve.show(points, time);
  }
}
