// A device: its addresses, its curves, its link's sliders, its recovery and congestion control.

import { html, say } from "./elements.js";
import { count, scaled } from "./numbers.js";
import { Curve } from "./curve.js";
import { LinkControls } from "./link_controls.js";
import { congestionChoice, recoveryChoice } from "./algorithm_choice.js";
import { CounterList } from "./counter_list.js";

export class DeviceCard {
  #state = html("span", { class: "state" });
  #addresses = html("p", { class: "quiet mono" });
  #goodput = new Curve("Goodput received", "--good", (value) => scaled(value, "bit/s"));
  #lost = new Curve("Lost on the link", "--lost", (value) => scaled(value, "packets/s"));
  #again = new Curve("Sent again", "--again", (value) => scaled(value, "packets/s"));
  #controls;
  #recovery;
  #congestion;
  #counters = new CounterList();
  element;

  constructor(name) {
    this.#controls = new LinkControls(name);
    this.#recovery = recoveryChoice({ device: name });
    this.#congestion = congestionChoice({ device: name });
    this.element = html("article", { class: "card", "aria-label": `Device ${name}` },
      html("div", { class: "row" }, html("h2", {}, name), this.#state, html("span", { class: "grow" })),
      html("div", { class: "row" }, this.#recovery.element, this.#congestion.element),
      this.#addresses,
      this.#goodput.element,
      html("div", { class: "curves" }, this.#lost.element, this.#again.element),
      html("details", {}, html("summary", {}, "Link: loss, delay, rate, reordering"), this.#controls.element),
      html("details", {}, html("summary", {}, "Counters"), this.#counters.element));
  }

  show(device, overview, history) {
    say(this.#state, `link ${device.link}`);
    this.#state.className = `state ${device.link === "up" ? "RTS" : "ERR"}`;
    say(this.#addresses, `${device.gids.join("  ")}  MTU ${count(device.mtu)}`);
    const now = overview.time_ms;
    this.#goodput.show(history.map((each) => [each.time, each.goodput]), now);
    this.#lost.show(history.map((each) => [each.time, each.lost]), now);
    this.#again.show(history.map((each) => [each.time, each.again]), now);
    if (overview.links[device.name]) this.#controls.show(overview.links[device.name]);
    this.#recovery.show(device.recovery);
    this.#congestion.show(device.congestion);
    this.#counters.show(overview.counters[device.name] ?? {});
  }
}
