// The ladder of a queue pair while programs run: the last packets, which can be held still.

import { ask, askBlob } from "./server.js";
import { html, say } from "./elements.js";
import { count } from "./numbers.js";
import { attempt, tell } from "./notice.js";
import { LadderPanel } from "./ladder_panel.js";
import { saveBlob } from "./saving.js";

const kMost = 6000; // arrows that are kept

export class LiveLadder {
  #arrows = new Map();
  #paused = false;
  #about = html("p", { class: "quiet", role: "status" });
  #panel;
  #capture = 0;
  element;

  constructor(queuePair) {
    const parameters = new URLSearchParams({ queue_pair: queuePair });
    const pause = html("button", { type: "button", "aria-pressed": "false", id: "pause", onclick: () => this.#pause(pause) }, "Pause");
    const loss = html("button", { type: "button", id: "last-loss", onclick: () => this.#findLoss(pause) }, "Last loss");
    const save = html("button", { type: "button", onclick: () => attempt(async () => saveBlob(await askBlob(`api/capture?${parameters}`), `${queuePair.replace("/", "-")}.pcapng`)) }, "pcapng");
    this.#panel = new LadderPanel({
      title: "Ladder", names: [queuePair, "peer"], tools: [pause, loss, save], name: `ladder-${queuePair.replace("/", "-")}`, about: this.#about,
      open: (number) => ask(`api/frame?${parameters}&number=${number}`),
    });
    this.element = this.#panel.element;
  }

  names(names) {
    this.#panel.ladder.names(names);
  }

  // A capture that begins anew counts its frames from 1 again.
  add({ arrows, capture, missed, problem }) {
    if (capture !== this.#capture) this.#arrows.clear();
    this.#capture = capture;
    for (const arrow of arrows) this.#arrows.set(arrow.n, arrow);
    const numbers = [...this.#arrows.keys()].sort((a, b) => a - b);
    for (const number of numbers.slice(0, Math.max(numbers.length - kMost, 0))) this.#arrows.delete(number);
    say(this.#about, [problem, missed > 0 ? `${count(missed)} packets passed too fast to be looked at` : "", "times in µs since the first packet"].filter(Boolean).join("; "));
    if (!this.#paused) this.#show();
  }

  #show() {
    this.#panel.ladder.show([...this.#arrows.values()].sort((a, b) => a.sent - b.sent || a.n - b.n));
  }

  // The newest packets are in sight mostly, and a loss is soon past.
  #findLoss(pause) {
    if (!this.#panel.ladder.chooseLast((arrow) => arrow.lost)) tell("None of these packets was lost.");
    else if (!this.#paused) this.#pause(pause);
  }

  #pause(button) {
    this.#paused = !this.#paused;
    button.setAttribute("aria-pressed", String(this.#paused));
    say(button, this.#paused ? "Go on" : "Pause");
    if (!this.#paused) this.#show();
  }
}
