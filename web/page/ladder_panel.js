// A ladder with its buttons and the frame that is opened beside it.

import { html } from "./elements.js";
import { attempt } from "./notice.js";
import { FramePanel } from "./frame_panel.js";
import { Ladder } from "./ladder.js";
import { savePng, saveSvg } from "./saving.js";

export class LadderPanel {
  #frame;
  #body;
  ladder;
  element;

  /** `names` of the lanes; `open(number)` gives the frame; `tools` are more elements for the bar; `name` is that of
      files. */
  constructor({ title, names, open, tools, name, about }) {
    this.ladder = new Ladder(names, async (number) => {
      const frame = await attempt(() => open(number));
      if (!frame) return;
      this.#body.classList.add("open");
      this.#frame.show(number, frame);
    });
    this.#frame = new FramePanel(() => {
      this.#frame.close();
      this.#body.classList.remove("open");
    });
    const order = html("select", { "aria-label": "How far arrows are apart", onchange: () => this.ladder.inOrder(order.value === "order") },
      html("option", { value: "order" }, "one row an event"), html("option", { value: "time" }, "true to time"));
    this.#body = html("div", { class: "ladder-frame" }, this.ladder.element, this.#frame.element);
    this.element = html("section", { "aria-label": title },
      html("div", { class: "ladder-bar" }, html("h2", {}, title), tools,
        html("button", { type: "button", "aria-label": "Zoom in", onclick: () => this.ladder.zoom(1.5) }, "+"),
        html("button", { type: "button", "aria-label": "Zoom out", onclick: () => this.ladder.zoom(1 / 1.5) }, "−"),
        order,
        html("button", { type: "button", onclick: () => saveSvg(this.ladder.picture, name) }, "SVG"),
        html("button", { type: "button", onclick: () => attempt(() => savePng(this.ladder.picture, name)) }, "PNG")),
      about, this.#body);
  }
}
