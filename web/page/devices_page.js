// The page of running devices: an overview, or one queue pair. Keeps the one stream of events that a page has.

import { EventStream } from "./server.js";
import { say } from "./elements.js";
import { History } from "./history.js";
import { OverviewView } from "./overview_view.js";
import { QueuePairView } from "./queue_pair_view.js";

export class DevicesPage {
  #content;
  #source = document.getElementById("source");
  #stream = null;
  #view = null;
  #overview = null;
  #queuePairs = new Map();
  #history = new History();
  #lastEngine = null;

  constructor(content) {
    this.#content = content;
  }

  show(address) {
    const name = address.get("qp");
    this.#view = name ? new QueuePairView(name, this.#history) : new OverviewView(this.#history);
    this.#content.replaceChildren(this.#view.element);
    document.title = name ? `QP ${name} – urnic` : "urnic";
    if (this.#overview) this.#tell();
    this.#watch(name);
  }

  #watch(name) {
    this.#stream?.close();
    this.#queuePairs.clear();
    const watched = name ? `?${new URLSearchParams({ queue_pair: name, ladder: 1 })}` : "";
    this.#stream = new EventStream(`api/stream${watched}`, {
      overview: (overview) => {
        this.#overview = overview;
        this.#history.add(overview);
        this.#tell();
      },
      queue_pairs: ({ changed, gone }) => {
        for (const key of gone) this.#queuePairs.delete(key);
        for (const [key, row] of Object.entries(changed)) this.#queuePairs.set(key, row);
        this.#view.queuePairs?.(this.#queuePairs);
      },
      queue_pair: (event) => this.#view.queuePair?.(event, this.#overview),
      ladder: (event) => this.#view.ladder?.(event),
    }, (error) => say(this.#source, error.message));
  }

  #tell() {
    const overview = this.#overview;
    say(this.#source, overview.running ? this.#describe(overview)
      : "No device process runs. Start a program with “urnic run”, or one that stays with “urnic up”.");
    this.#view.overview?.(overview, this.#queuePairs);
  }

  // Whole percents, so that the line does not change all the time.
  #describe(overview) {
    const engine = { at: overview.time_ms, busy: overview.engine.processor_seconds };
    const last = this.#lastEngine;
    let share = "";
    if (last && engine.at > last.at) {
      const used = (engine.busy - last.busy) * 1000 / (engine.at - last.at);
      share = `, engines use ${Math.round(Math.max(used, 0) * 100)} % of a processor`;
    }
    this.#lastEngine = engine;
    const problem = overview.problem ? ` – ${overview.problem}` : "";
    return `Device process ${overview.pid}, version ${overview.version}${share}${problem}`;
  }
}
