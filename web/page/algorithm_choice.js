// Chooses how queue pairs recover from loss: of a device, or of one queue pair.

import { act } from "./server.js";
import { html } from "./elements.js";
import { attempt } from "./notice.js";

const kRecoveries = [["gbn", "go back N"], ["selective", "selective"], ["irn", "IRN"], ["sack", "selective acks"]];

export class RecoveryChoice {
  #select;
  element;

  /** `whose`: {device}, or {device, qp} for one queue pair. */
  constructor(whose) {
    this.#select = html("select", { onchange: () => this.#choose(whose) },
      kRecoveries.map(([value, text]) => html("option", { value }, text)));
    this.element = html("label", {}, html("span", { class: "quiet" }, "Recovery "), this.#select);
  }

  show(recovery) {
    if (document.activeElement !== this.#select) this.#select.value = recovery;
  }

  #choose(whose) {
    const recovery = this.#select.value;
    attempt(() => act("api/recovery", { ...whose, recovery }), `Recovery: ${recovery}.`);
    this.#select.blur();
  }
}
