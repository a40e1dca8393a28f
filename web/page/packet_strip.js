// Packets in a row by PSN, coloured by what is known of them: of the requester acknowledged, in flight, lost,
// arrived ahead of others, not yet sent; of the responder executed, missing, held.

import { html, say, svg } from "./elements.js";
import { psnDistance, psnSum } from "./numbers.js";

const kWidth = 1000;
const kTop = 14;
const kHeight = 22;
const kBefore = 24; // acknowledged packets that are shown
const kLeast = 96; // packets in the strip
const kWords = { acknowledged: "acknowledged", in_flight: "in flight", lost: "lost, to be sent again", arrived_ahead: "arrived ahead", not_sent: "not yet sent",
  held: "held", hole: "missing", executed: "executed" };
const kLegends = {
  requester: [["acknowledged", "acknowledged"], ["in_flight", "in flight"], ["arrived_ahead", "held by the peer out of order"], ["lost", "lost"], ["not_sent", "not yet sent"]],
  responder: [["acknowledged", "executed"], ["lost", "missing"], ["arrived_ahead", "held out of order"]],
};

export class PacketStrip {
  #kind;
  #picture;
  #words = html("p", { class: "quiet" });
  #title;
  element;

  /** `kind`: "requester" or "responder". */
  constructor(title, kind) {
    this.#kind = kind;
    this.#title = title;
    this.#picture = svg("svg", { class: "strip", viewBox: `0 0 ${kWidth} 54`, preserveAspectRatio: "none", role: "img" });
    this.element = html("div", { class: "stack" }, html("h3", {}, title), this.#picture,
      html("ul", { class: "legend" }, kLegends[kind].map(([name, text]) => html("li", {}, html("i", { class: name }), text))), this.#words);
  }

  show(half) {
    const spans = this.#kind === "requester" ? this.#ofRequester(half) : this.#ofResponder(half);
    const total = Math.max(spans.reduce((sum, span) => sum + span.count, 0), kLeast);
    const scale = kWidth / total;
    const first = spans[0].first;
    const parts = [];
    for (const { kind, first: from, count } of spans) {
      const x = psnDistance(first, from) * scale;
      const width = Math.max(count * scale - (count * scale > 4 ? 0.8 : 0), 0.8);
      parts.push(svg("rect", { class: kind === "executed" ? "acknowledged" : kind, x, y: kTop, width, height: kHeight },
        svg("title", {}, `${kWords[kind]}: PSN ${from}${count > 1 ? ` to ${psnSum(from, count - 1)}` : ""}`)));
    }
    const marks = this.#kind === "requester" ? [[half.unacknowledged_psn, "oldest unacknowledged"], [half.next_psn, "next"]] : [[half.expected_psn, "expected"]];
    if (this.#kind === "requester") {
      const x = psnDistance(first, half.unacknowledged_psn) * scale;
      parts.push(svg("rect", { class: "window", x, y: kTop - 4, width: Math.min(half.window * scale, kWidth - x - 1), height: kHeight + 8 }));
    }
    this.#picture.replaceChildren(...parts);
    const text = marks.map(([psn, name]) => `${name} PSN ${psn}`).join(", ") + this.#sums(spans);
    say(this.#words, text);
    this.#picture.setAttribute("aria-label", `${this.#title}: ${text}`);
  }

  #sums(spans) {
    const sums = {};
    for (const { kind, count } of spans) if (!["acknowledged", "executed"].includes(kind)) sums[kind] = (sums[kind] ?? 0) + count;
    return Object.entries(sums).map(([kind, count]) => `; ${count} ${kWords[kind]}`).join("");
  }

  #ofRequester(requester) {
    const first = psnSum(requester.unacknowledged_psn, -kBefore);
    return [{ kind: "acknowledged", first, count: kBefore }, ...requester.packets.map(([kind, psn, count]) => ({ kind, first: psn, count }))];
  }

  #ofResponder(responder) {
    const first = psnSum(responder.expected_psn, -kBefore);
    const spans = [{ kind: "executed", first, count: kBefore }];
    let next = responder.expected_psn;
    for (const [, psn, count] of responder.held) {
      if (psnDistance(next, psn) > 0) spans.push({ kind: "hole", first: next, count: psnDistance(next, psn) });
      spans.push({ kind: "held", first: psn, count });
      next = psnSum(psn, count);
    }
    return spans;
  }
}
