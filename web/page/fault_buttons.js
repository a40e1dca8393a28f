// A button for each fault: what happens to the next packet of a kind that this queue pair sends.

import { act } from "./server.js";
import { html, say } from "./elements.js";
import { attempt } from "./notice.js";

const kKinds = [["any", "packet"], ["acknowledge", "ACK"], ["request", "request"], ["read_response", "READ response"]];
const kFaults = [
  ["drop", "Drop", "is lost"], ["duplicate", "Duplicate", "arrives twice"], ["delay", "Delay 1 ms", "arrives a millisecond later"],
  ["reorder", "Reorder", "is overtaken by the one behind it"], ["corrupt_after_icrc", "Damage", "has a bit flipped; the ICRC shows it"],
  ["corrupt_before_icrc", "Falsify", "has a bit flipped; the ICRC is right"], ["mark_ecn", "Mark ECN", "says that the network is congested"],
  ["cnp", "Answer CNP", "goes on, and the link notifies its sender of congestion"],
  ["rnr_nak", "Answer RNR NAK", "gets an RNR NAK from the link"], ["nak", "Answer NAK", "gets a NAK for a sequence error from the link"],
  ["cut_link", "Cut 100 ms", "is lost, and the link is down for 100 ms"], ["stop_qp", "Stop the QP", "is lost, and so is all that follows"],
];

export class FaultButtons {
  #device;
  #qpn;
  #kind;
  #times = html("input", { type: "number", min: 1, max: 1000, value: 1, "aria-label": "How many packets" });
  #pending = html("p", { class: "quiet", role: "status" });
  #clear;
  element;

  constructor(device, qpn) {
    this.#device = device;
    this.#qpn = qpn;
    this.#kind = html("select", { onchange: () => this.#name() }, kKinds.map(([value, text]) => html("option", { value }, text)));
    this.#clear = html("button", { type: "button", hidden: true, onclick: () => attempt(() => act("api/faults/clear"), "All faults are cleared.") }, "Clear all faults");
    this.element = html("div", { class: "stack" },
      html("div", { class: "row" }, html("label", {}, html("span", { class: "quiet" }, "The next "), this.#times), html("label", {}, html("span", { class: "hidden-text" }, "Kind of packet"), this.#kind),
        html("span", { class: "quiet" }, "of this queue pair:")),
      html("div", { class: "faults" }, kFaults.map(([action, text, means]) =>
        html("button", { type: "button", class: "danger", title: `It ${means}.`, "data-fault": action, onclick: () => this.#send(action) }, text))),
      html("div", { class: "row" }, this.#pending, this.#clear));
    this.#name();
  }

  /** Of an overview: the plan in force. */
  plan(plan) {
    const waiting = (plan?.rules ?? []).filter((rule) => rule.times !== undefined && rule.matches < rule.times);
    const others = (plan?.rules ?? []).filter((rule) => rule.times === undefined).length;
    const texts = waiting.map((rule) => rule.name.replace(/^page \d+: /, ""));
    if (others > 0) texts.push(`a plan with ${others} rules is in force`);
    say(this.#pending, texts.length === 0 ? "No fault waits for a packet." : `Waiting: ${texts.join("; ")}.`);
    this.#clear.hidden = texts.length === 0;
  }

  // A screen reader hears the whole: "Drop the next ACK of this queue pair".
  #name() {
    const kind = kKinds.find(([value]) => value === this.#kind.value)[1];
    for (const button of this.element.querySelectorAll("[data-fault]")) button.setAttribute("aria-label", `${button.textContent}: the next ${kind} of this queue pair`);
  }

  #send(action) {
    attempt(() => act("api/fault", { device: this.#device, qpn: this.#qpn, packets: this.#kind.value, action, times: Number(this.#times.value) }));
  }
}
