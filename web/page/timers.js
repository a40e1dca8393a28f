// The timers of a requester, running down. A screen reader is not told of each step.

import { html, say } from "./elements.js";
import { duration } from "./numbers.js";

const kNames = { local_ack: "Local ACK timer", rnr: "RNR wait", credit: "Until it may probe for a credit", recovery: "Loss recovery" };

export class Timers {
  #rows = new Map();
  #most = new Map(); // the longest that each has been seen to have left
  #none = html("p", { class: "quiet" }, "No timer runs.");
  element = html("div", { class: "timers" }, this.#none);

  show(requester) {
    const running = new Map(requester.timers.map((timer) => [timer.timer, timer.us]));
    this.#none.hidden = running.size > 0;
    for (const [name, { element }] of this.#rows) if (!running.has(name)) element.hidden = true;
    for (const [name, us] of running) {
      const row = this.#rows.get(name) ?? this.#add(name);
      const most = name === "local_ack" && requester.ack_timeout_us ? requester.ack_timeout_us : Math.max(this.#most.get(name) ?? 0, us);
      this.#most.set(name, most);
      row.element.hidden = false;
      say(row.left, us <= 0 ? "due" : `${duration(us)} of ${duration(most)}`);
      row.bar.value = most > 0 ? Math.max(us, 0) / most : 0;
    }
  }

  #add(name) {
    const left = html("span", { class: "mono" });
    const bar = html("progress", { max: 1, value: 0, "aria-label": kNames[name] });
    const element = html("div", { class: "timer" }, html("div", { class: "row" }, html("span", {}, kNames[name]), html("span", { class: "grow" }), left), bar);
    this.#rows.set(name, { element, left, bar });
    this.element.append(element);
    return this.#rows.get(name);
  }
}
