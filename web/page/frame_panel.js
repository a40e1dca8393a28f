// A frame that is opened: its headers and fields, and its bytes, in which the field that is pointed at is marked.

import { html, say } from "./elements.js";

const kRow = 16; // bytes

export class FramePanel {
  #title = html("h2");
  #note = html("p", { class: "quiet" });
  #headers = html("div", { class: "headers" });
  #hex = html("div", { class: "hex", tabindex: 0, role: "region", "aria-label": "Bytes of the frame" });
  #bytes = [];
  #pressed = null;
  element;

  constructor(onclose) {
    this.element = html("aside", { class: "card dissection", "aria-label": "Frame", hidden: true },
      html("div", { class: "row" }, this.#title, html("span", { class: "grow" }), html("button", { type: "button", onclick: onclose }, "Close")),
      this.#note, this.#headers, this.#hex);
  }

  show(number, frame) {
    this.element.hidden = false;
    say(this.#title, `Frame ${number}`);
    const icrc = frame.icrc === "not checked" ? "" : `ICRC ${frame.icrc}`;
    say(this.#note, [frame.summary, icrc, frame.comment].filter(Boolean).join("; "));
    const text = frame.bytes;
    this.#bytes = Array.from({ length: text.length / 2 }, (_, place) => html("span", {}, text.slice(2 * place, 2 * place + 2)));
    this.#headers.replaceChildren(...frame.headers.map((header) => this.#header(header)));
    this.#showBytes();
  }

  close() {
    this.element.hidden = true;
  }

  #header(header) {
    const mark = () => this.#mark(header.offset * 8, header.bytes * 8);
    return html("details", { open: ["Base transport", "ACK extended", "RDMA extended"].some((word) => header.title.startsWith(word)) },
      html("summary", { onclick: mark }, header.title),
      html("ul", {}, header.fields.map((field) => {
        const button = html("button", { type: "button", "aria-pressed": "false" }, `${field.label}: ${field.value}`);
        button.title = field.name;
        const point = () => this.#mark(field.first_bit, field.bits, button);
        for (const event of ["click", "focus", "pointerenter"]) button.addEventListener(event, point);
        return html("li", {}, button);
      })));
  }

  #mark(firstBit, bits, button = null) {
    this.#pressed?.setAttribute("aria-pressed", "false");
    this.#pressed = button;
    button?.setAttribute("aria-pressed", "true");
    const [first, end] = [Math.floor(firstBit / 8), Math.ceil((firstBit + bits) / 8)];
    this.#bytes.forEach((byte, place) => byte.classList.toggle("marked", bits > 0 && place >= first && place < end));
    if (bits > 0 && this.#bytes[first]) this.#hex.scrollTop = this.#bytes[first].offsetTop - this.#hex.clientHeight / 2;
  }

  #showBytes() {
    const rows = [];
    for (let at = 0; at < this.#bytes.length; at += kRow) {
      const row = this.#bytes.slice(at, at + kRow).flatMap((byte, place) => [place === kRow / 2 ? "  " : " ", byte]);
      rows.push(html("span", { class: "offset" }, at.toString(16).padStart(4, "0")), " ", ...row, "\n");
    }
    this.#hex.replaceChildren(...rows);
  }
}
