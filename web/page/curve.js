// A curve over time: the last minutes, the newest at the right edge.

import { html, say, svg } from "./elements.js";
import { duration } from "./numbers.js";

const kWidth = 600;
const kHeight = 120;
const kTop = 14;
const kBottom = 106;
const kSpan = 120_000; // ms

export class Curve {
  #format;
  #path;
  #value = html("span", { class: "mono" });
  element;

  /** `format(value)` is the text of a value; `colour` a CSS variable. */
  constructor(title, colour, format) {
    this.#format = format;
    this.#path = svg("path", { stroke: `var(${colour})` });
    const picture = svg("svg", { class: "curve", viewBox: `0 0 ${kWidth} ${kHeight}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("path", { class: "axis", "stroke-width": 1, d: `M0 ${kBottom}H${kWidth}M0 ${kTop}H${kWidth}` }), this.#path);
    this.element = html("div", {}, html("div", { class: "row" }, html("h3", {}, title), html("span", { class: "grow" }), this.#value), picture,
      html("p", { class: "curve-top quiet number", "aria-hidden": "true" }));
  }

  /** The last two minutes before `now`. Points [time in ms, value or null], oldest first. */
  show(points, now) {
    this.#draw(points.filter(([time]) => time >= now - kSpan), now - kSpan, now, "two minutes");
  }

  /** All points, from `begin` to `end` in microseconds. */
  showWhole(points, begin, end) {
    this.#draw(points, begin, end, duration(end - begin));
  }

  #draw(points, begin, end, span) {
    const most = Math.max(...points.map(([, value]) => value ?? 0), 0);
    const last = points.length > 0 ? points.at(-1)[1] : null;
    say(this.#value, last === null ? "–" : this.#format(last));
    say(this.element.lastChild, most > 0 ? `top ${this.#format(most)}, ${span}` : span);
    const x = (time) => (time - begin) / Math.max(end - begin, 1e-9) * kWidth;
    const y = (value) => kBottom - (most === 0 ? 0 : value / most) * (kBottom - kTop);
    let line = "";
    let begun = false;
    for (const [time, value] of points) {
      if (value !== null) line += `${begun ? "L" : "M"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
      begun = value !== null;
    }
    this.#path.setAttribute("d", line);
  }
}
