// Chooses how queue pairs recover from loss, and how they avoid congestion: of a device, or of one queue pair.

import { act } from "./server.js";
import { html } from "./elements.js";
import { attempt } from "./notice.js";

const kRecoveries = [["gbn", "go back N"], ["selective", "selective"], ["irn", "IRN"], ["sack", "selective acks"]];
const kCongestion = [["off", "off"], ["dcqcn", "DCQCN"], ["rtt", "round trips (Swift)"], ["timely", "TIMELY"]];

class AlgorithmChoice {
  #title;
  #select;
  element;

  /** `change(value)` asks the server for an algorithm. */
  constructor(title, algorithms, change) {
    this.#title = title;
    this.#select = html("select", { "data-choice": title.toLowerCase(), onchange: () => this.#choose(change) },
      algorithms.map(([value, text]) => html("option", { value }, text)));
    this.element = html("label", {}, html("span", { class: "quiet" }, `${title} `), this.#select);
  }

  show(algorithm) {
    if (document.activeElement !== this.#select) this.#select.value = algorithm;
  }

  #choose(change) {
    const algorithm = this.#select.value;
    attempt(() => change(algorithm), `${this.#title}: ${algorithm}.`);
    this.#select.blur();
  }
}

/** `whose`: {device}, or {device, qp} for one queue pair. */
export const recoveryChoice = (whose) =>
  new AlgorithmChoice("Recovery", kRecoveries, (recovery) => act("api/recovery", { ...whose, recovery }));

/** Likewise. A queue pair without congestion control shows "off". */
export const congestionChoice = (whose) =>
  new AlgorithmChoice("Congestion", kCongestion, (congestion) => act("api/congestion", { ...whose, congestion }));
