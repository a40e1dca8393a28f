// Counters that are not zero, with what each has grown by in the last second or so.

import { html, say } from "./elements.js";
import { count } from "./numbers.js";

export class CounterList {
  #rows = new Map();
  #last = {};
  #list = html("dl", { class: "facts mono" });
  element = html("div", {}, html("p", { class: "quiet" }, "Those that are not zero."), this.#list);

  /** Skips the work while nobody sees it. */
  show(counters) {
    if (!this.element.isConnected || this.element.closest("details")?.open === false) return;
    for (const [name, value] of Object.entries(counters)) {
      if (value === 0 && !this.#rows.has(name)) continue;
      if (!this.#rows.has(name)) this.#add(name);
      const grown = value - (this.#last[name] ?? value);
      say(this.#rows.get(name), grown > 0 ? `${count(value)}  +${count(grown)}` : count(value));
    }
    this.#last = counters;
  }

  #add(name) {
    const value = html("dd");
    this.#rows.set(name, value);
    this.#list.append(html("dt", {}, name), value);
  }
}
