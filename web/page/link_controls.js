// Sliders for a device's link. Each change is sent at once; what the device process says is shown.

import { act } from "./server.js";
import { html, say } from "./elements.js";
import { duration, percent } from "./numbers.js";
import { attempt } from "./notice.js";

// Steps that a slider goes through: small values matter most. Settings as docs/configuration.md names them.
const kProbabilities = [0, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
const kDelays = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000, 100000];
const kRates = [0, 0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 25, 40, 100, 200, 400];
const kSliders = [
  { name: "loss", label: "Loss", steps: kProbabilities, format: percent },
  { name: "delay_us", label: "Delay", steps: kDelays, format: duration },
  { name: "jitter_us", label: "Jitter", steps: kDelays, format: duration },
  { name: "rate_gbps", label: "Rate", steps: kRates, format: (value) => value === 0 ? "no limit" : `${value} Gbit/s` },
  { name: "reorder", label: "Reordering", steps: kProbabilities, format: percent },
  { name: "reorder_packets", label: "Reordered by", steps: [1, 2, 3, 5, 8, 16, 32, 64], format: (value) => `${value} packets` },
  { name: "duplicate", label: "Duplicates", steps: kProbabilities, format: percent },
  { name: "corrupt", label: "Damage", steps: kProbabilities, format: percent },
  { name: "burst_start", label: "Bursts of loss", steps: kProbabilities, format: percent },
];

const nearest = (steps, value) => steps.reduce((best, step, place) =>
  Math.abs(step - value) < Math.abs(steps[best] - value) ? place : best, 0);

export class LinkControls {
  #device;
  #direction;
  #sliders = [];
  #cut;
  #link = null;
  element;

  constructor(device) {
    this.#device = device;
    this.#direction = html("select", { onchange: () => this.#update() },
      html("option", { value: "tx" }, "what it sends"), html("option", { value: "rx" }, "what it receives"), html("option", { value: "both" }, "both"));
    this.#cut = html("button", { type: "button", class: "danger", onclick: () => this.#toggleCut() }, "Cut the link");
    for (const slider of kSliders) this.#sliders.push(this.#make(slider));
    this.element = html("div", { class: "stack" },
      html("div", { class: "row" }, html("label", {}, html("span", { class: "quiet" }, "For "), this.#direction),
        html("button", { type: "button", onclick: () => this.#reset() }, "A perfect wire"), this.#cut),
      html("div", { class: "sliders" }, this.#sliders.map((each) => each.element)));
  }

  show(link) {
    this.#link = link;
    say(this.#cut, link.state === "up" ? "Cut the link" : "Restore the link");
    this.#update();
  }

  #settings() {
    return this.#link?.[this.#direction.value === "rx" ? "rx" : "tx"].settings;
  }

  #make({ name, label, steps, format }) {
    const output = html("output");
    const input = html("input", { type: "range", min: 0, max: steps.length - 1, step: 1, value: 0, "aria-label": `${label} of ${this.#device}`,
      oninput: () => {
        say(output, format(steps[input.value]));
        input.setAttribute("aria-valuetext", output.textContent);
      },
      onchange: () => {
        this.#send({ [name]: steps[input.value] });
        input.blur();
      } });
    const element = html("label", { class: "slider" }, html("span", { class: "row" }, label, output), input);
    return { name, steps, format, input, output, element };
  }

  // A value that a program has set may lie between two steps: it is shown as it is.
  #update() {
    const settings = this.#settings();
    if (!settings) return;
    for (const { name, steps, format, input, output } of this.#sliders) {
      if (document.activeElement === input) continue;
      input.value = nearest(steps, settings[name]);
      say(output, format(settings[name]));
      input.setAttribute("aria-valuetext", output.textContent);
    }
  }

  #send(set) {
    return attempt(() => act("api/link", { device: this.#device, direction: this.#direction.value, set }));
  }

  #reset() {
    const set = {};
    for (const { name } of this.#sliders) set[name] = name === "reorder_packets" ? 3 : 0;
    this.#send(set);
  }

  #toggleCut() {
    this.#send({ state: this.#link?.state === "up" ? "down" : "up" });
  }
}
