// The states of a queue pair (IBTA 10.3.1) with the present one.

import { html, svg } from "./elements.js";

const kPlaces = { RESET: [70, 40], INIT: [200, 40], RTR: [330, 40], RTS: [460, 40], SQD: [460, 130], SQE: [330, 130], ERR: [135, 130] };
// What modify_qp does, and what the device does by itself.
const kEdges = [["RESET", "INIT"], ["INIT", "RTR"], ["RTR", "RTS"], ["RTS", "SQD"], ["SQD", "RTS"], ["RTS", "SQE"], ["SQE", "RTS"], ["INIT", "ERR"], ["RTR", "ERR"], ["SQE", "ERR"], ["ERR", "RESET"]];
const kMeanings = {
  RESET: "RESET: nothing is sent or received.",
  INIT: "INIT: receives may be posted; nothing is sent or received.",
  RTR: "RTR: ready to receive; requests are taken, none are sent.",
  RTS: "RTS: ready to send; requests are taken and sent.",
  SQD: "SQD: the send queue drains; no new request begins.",
  SQE: "SQE: a send has failed; receives go on.",
  ERR: "ERR: everything posted completes with a flush error.",
};
const kHalf = [44, 16];

function edge([from, to]) {
  const [x1, y1] = kPlaces[from];
  const [x2, y2] = kPlaces[to];
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const both = kEdges.some(([a, b]) => a === to && b === from);
  const aside = both ? 6 : 0;
  const cut = (along) => Math.min(kHalf[0] / Math.max(Math.abs(dx), 1e-6), kHalf[1] / Math.max(Math.abs(dy), 1e-6)) + along;
  const [sx, sy] = [x1 + dx * cut(1) - dy * aside, y1 + dy * cut(1) + dx * aside];
  const [ex, ey] = [x2 - dx * cut(9) - dy * aside, y2 - dy * cut(9) + dx * aside];
  const tip = `${ex + dx * 8},${ey + dy * 8} ${ex - dy * 4},${ey + dx * 4} ${ex + dy * 4},${ey - dx * 4}`;
  return [svg("path", { class: "edge", d: `M${sx} ${sy}L${ex} ${ey}` }), svg("polygon", { class: "tip", points: tip })];
}

export class StateMachine {
  #nodes = new Map();
  #picture;
  #meaning = html("p", { role: "status" });
  element;

  constructor() {
    for (const [name, [x, y]] of Object.entries(kPlaces)) {
      this.#nodes.set(name, svg("g", {}, svg("rect", { x: x - kHalf[0], y: y - kHalf[1], width: 2 * kHalf[0], height: 2 * kHalf[1], rx: 8 }), svg("text", { x, y }, name)));
    }
    this.#picture = svg("svg", { class: "machine", viewBox: "10 10 510 150", role: "img" }, kEdges.map(edge).flat(), [...this.#nodes.values()]);
    this.element = html("div", { class: "stack" }, this.#picture, this.#meaning);
  }

  show(state) {
    if (this.#picture.getAttribute("aria-label") === `State machine, present state ${state}`) return;
    this.#picture.setAttribute("aria-label", `State machine, present state ${state}`);
    for (const [name, node] of this.#nodes) {
      node.setAttribute("class", name !== state ? "" : ["ERR", "SQE"].includes(name) ? "present bad-state" : "present");
    }
    this.#meaning.textContent = kMeanings[state] ?? state;
  }
}
