// A queue as a ring with its producer and consumer, and the WQEs between.

import { html, say } from "./elements.js";
import { bytes, count } from "./numbers.js";

const kMostSlots = 256;
const hex = (value) => `0x${value.toString(16)}`;

function flags(wqe) {
  return [wqe.signaled && "signaled", wqe.inline && "inline", wqe.fence && "fence", wqe.solicited && "solicited"].filter(Boolean).join(", ");
}

export class WorkQueue {
  #words = html("p", { class: "quiet" });
  #ring = html("div", { class: "ring", "aria-hidden": "true" });
  #body = html("tbody");
  #table;
  #shown = "";
  #shownWqes = "";
  element;

  constructor(title) {

    this.#table = html("div", { class: "scroll table-window", tabindex: 0, role: "region", "aria-label": `WQEs of the ${title.toLowerCase()}` },
      html("table", {}, html("thead", {}, html("tr", {}, ["Index", "Operation", "Bytes", "Segments", "Flags", "Remote", "PSNs"].map((text) => html("th", { scope: "col" }, text)))), this.#body));
    this.element = html("div", { class: "stack" }, html("h2", {}, title), this.#words, this.#ring, this.#table);
  }

  /** `requester`: which PSNs the WQEs of a send queue have; null for others. */
  show(queue, requester) {
    if (!queue) {
      say(this.#words, "It has none of its own.");
      this.#ring.replaceChildren();
      this.#table.hidden = true;
      return;
    }
    const filled = (queue.producer - queue.consumer) >>> 0;
    const number = queue.number === undefined ? "" : `number ${queue.number}, `;
    const taken = queue.taken === undefined ? "" : `, ${(queue.taken - queue.consumer) >>> 0} taken by the device`;
    say(this.#words, `${number}${count(queue.slots)} places; producer ${count(queue.producer)}, consumer ${count(queue.consumer)}: ` +
      `${count(Math.min(filled, queue.slots))} between${taken}${queue.overrun ? "; overrun" : ""}`);
    this.#showRing(queue, filled);
    this.#showWqes(queue.wqes, requester);
  }

  #showRing(queue, filled) {
    const shape = `${queue.slots} ${queue.producer} ${queue.taken} ${queue.consumer}`;
    if (shape === this.#shown) return;
    this.#shown = shape;
    if (queue.slots > kMostSlots || queue.slots === 0) {
      this.#ring.replaceChildren();
      return;
    }
    const place = (index) => index % queue.slots;
    const taken = queue.taken === undefined ? 0 : (queue.taken - queue.consumer) >>> 0;
    const slots = Array.from({ length: queue.slots }, (_, slot) => {
      const age = (slot - place(queue.consumer) + queue.slots) % queue.slots;
      const state = age < taken ? "taken" : age < filled ? "waits" : "";
      const marks = `${slot === place(queue.producer) ? " producer" : ""}${slot === place(queue.consumer) ? " consumer" : ""}`;
      return html("span", { class: state + marks });
    });
    this.#ring.replaceChildren(...slots);
  }

  #showWqes(wqes, requester) {
    this.#table.hidden = !wqes || wqes.length === 0;
    const text = JSON.stringify([wqes, requester?.requests]);
    if (!wqes || text === this.#shownWqes) return;
    this.#shownWqes = text;
    const psns = new Map((requester?.requests ?? []).map((request) => [request.index, request]));
    this.#body.replaceChildren(...wqes.map((wqe) => {
      const request = psns.get(wqe.index);
      const remote = wqe.rkey ? `${hex(wqe.remote_address)} R_Key ${hex(wqe.rkey)}` : "";
      const range = request && request.packets > 0 ? `${request.first_psn} +${request.packets}` : "";
      return html("tr", {}, [wqe.index, wqe.opcode, bytes(wqe.length), wqe.segments, flags(wqe), remote, range].map((text) => html("td", {}, String(text))));
    }));
  }
}
