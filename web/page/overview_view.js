// All devices with their curves and links, the programs, and the table of queue pairs.

import { html, say } from "./elements.js";
import { DeviceCard } from "./device_card.js";
import { QueuePairTable } from "./queue_pair_table.js";

export class OverviewView {
  #history;
  #cards = new Map();
  #devices = html("div", { class: "grid" });
  #programs = html("p", { class: "quiet" });
  #table = new QueuePairTable();
  element;

  constructor(history) {
    this.#history = history;
    this.element = html("div", { class: "view" },
      html("section", { "aria-label": "Devices" }, html("h1", {}, "Devices"), this.#devices),
      html("section", { "aria-label": "Queue pairs" }, html("h1", {}, "Queue pairs"), this.#programs, this.#table.element));
  }

  overview(overview, queuePairs) {
    const names = overview.devices.map((device) => device.name);
    for (const [name, card] of this.#cards) {
      if (names.includes(name)) continue;
      card.element.remove();
      this.#cards.delete(name);
    }
    for (const device of overview.devices) {
      if (!this.#cards.has(device.name)) {
        const card = new DeviceCard(device.name);
        this.#cards.set(device.name, card);
        this.#devices.append(card.element);
      }
      this.#cards.get(device.name).show(device, overview, this.#history.of(device.name));
    }
    say(this.#programs, this.#describe(overview));
    this.#table.programs(overview.contexts);
    this.queuePairs(queuePairs);
  }

  queuePairs(queuePairs) {
    this.#table.show(queuePairs);
  }

  #describe(overview) {
    const programs = new Map();
    for (const context of overview.contexts) {
      const key = `${context.program} (pid ${context.pids.join(", ")})`;
      programs.set(key, [...(programs.get(key) ?? []), context.device]);
    }
    if (programs.size === 0) return "No program uses a device.";
    const all = [...programs].map(([program, devices]) => `${program} on ${[...new Set(devices)].join(", ")}`);
    return all.length > 12 ? `${all.slice(0, 12).join("; ")}; and ${all.length - 12} more programs` : `${all.join("; ")}.`;
  }
}
