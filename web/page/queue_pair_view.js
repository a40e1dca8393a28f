// One queue pair: state machine, packets, timers, credits, queues, the ladder, and buttons for faults.

import { facts, html, say } from "./elements.js";
import { count, duration, scaled } from "./numbers.js";
import { StateMachine } from "./state_machine.js";
import { PacketStrip } from "./packet_strip.js";
import { Timers } from "./timers.js";
import { WorkQueue } from "./work_queue.js";
import { FaultButtons } from "./fault_buttons.js";
import { congestionChoice, recoveryChoice } from "./algorithm_choice.js";
import { CongestionPanel } from "./congestion_panel.js";
import { Curve } from "./curve.js";
import { QueuePairHistory } from "./queue_pair_history.js";
import { LinkControls } from "./link_controls.js";
import { LiveLadder } from "./live_ladder.js";

const yes = (value) => (value ? "yes" : "no");

export class QueuePairView {
  #queuePairName;
  #device;
  #heading;
  #peer = html("span");
  #problem = html("p", { class: "notice", hidden: true });
  #machine = new StateMachine();
  #sent = new PacketStrip("Sent by this queue pair", "requester");
  #held = new PacketStrip("Received by this queue pair", "responder");
  #packets = html("section", { class: "card", "aria-label": "Packets by PSN" }, html("h2", {}, "Packets by PSN"), this.#sent.element, this.#held.element);
  #timers = new Timers();
  #requester = html("div");
  #responder = html("div");
  #queues = { send_queue: new WorkQueue("Send queue"), receive_queue: new WorkQueue("Receive queue"), send_cq: new WorkQueue("Send CQ"), receive_cq: new WorkQueue("Receive CQ") };
  #recovery;
  #congestion;
  #control = new CongestionPanel();
  #faults;
  #link;
  #curves = {
    goodput: new Curve("Acknowledged", "--good", (value) => scaled(value, "packets/s")),
    again: new Curve("Sent again or for others", "--again", (value) => scaled(value, "packets/s")),
    roundTrip: new Curve("Round trip", "--accent", duration),
    inFlight: new Curve("In flight", "--in-flight", count),
  };
  #past = new QueuePairHistory();
  #ladder;
  element;

  constructor(name) {
    this.#queuePairName = name;
    this.#device = name.slice(0, name.lastIndexOf("/"));
    const qpn = Number(name.slice(name.lastIndexOf("/") + 1));
    this.#heading = html("h1", { tabindex: -1 }, `QP ${qpn} of ${this.#device}`);
    this.#recovery = recoveryChoice({ device: this.#device, qp: qpn });
    this.#congestion = congestionChoice({ device: this.#device, qp: qpn });
    this.#faults = new FaultButtons(this.#device, qpn);
    this.#link = new LinkControls(this.#device);
    this.#ladder = new LiveLadder(name);
    this.element = html("div", { class: "view" },
      html("div", { class: "row" }, html("a", { href: "#" }, "← All queue pairs")),
      html("div", { class: "row" }, this.#heading, this.#peer, html("span", { class: "grow" }), this.#recovery.element, this.#congestion.element),
      this.#problem,
      html("section", { class: "two", "aria-label": "State" },
        html("div", { class: "card" }, html("h2", {}, "State machine"), this.#machine.element),
        html("div", { class: "card" }, html("h2", {}, "Timers"), this.#timers.element, html("div", { class: "halves" }, this.#requester, this.#responder))),
      this.#packets,
      html("section", { class: "card", "aria-label": "Provoke" }, html("h2", {}, "Provoke"), this.#faults.element,
        html("details", {}, html("summary", {}, `The link of ${this.#device}: loss, delay, rate, reordering`), this.#link.element)),
      html("section", { "aria-label": "Ladder" }, this.#ladder.element),
      html("section", { class: "curves", "aria-label": "Curves" }, Object.values(this.#curves).map((curve) => html("div", { class: "card" }, curve.element))),
      this.#control.element,
      html("section", { class: "queues", "aria-label": "Queues" }, Object.entries(this.#queues).map(([name, queue]) => html("div", { class: name === "send_queue" ? "card whole" : "card" }, queue.element))));
  }

  overview(overview) {
    if (overview.links[this.#device]) this.#link.show(overview.links[this.#device]);
    this.#faults.plan(overview.plan);
  }

  ladder(event) {
    this.#ladder.add(event);
  }

  queuePair({ queue_pair: now, problem, time_us: time }) {
    this.#problem.hidden = now !== null;
    if (now === null) {
      say(this.#problem, `${problem}. What is below was seen last.`);
      return;
    }
    say(this.#peer, now.requester || now.destination_qpn !== 0
      ? `${now.service}, to QP ${now.destination_qpn} of ${now.destination_device ?? "another host"}` : now.service);
    this.#ladder.names([this.#queuePairName, now.destination_qpn !== 0 ? `${now.destination_device ?? "outside"}/${now.destination_qpn}` : "others"]);
    this.#machine.show(now.state);
    this.#past.add(now, time / 1000);
    for (const [name, curve] of Object.entries(this.#curves)) curve.show(this.#past.points(name), time / 1000);
    for (const [name, queue] of Object.entries(this.#queues)) queue.show(now[name], name === "send_queue" ? now.requester : null);
    this.#packets.hidden = !now.requester;
    this.#control.show(now.requester?.congestion ?? null, time / 1000);
    if (now.requester) this.#connection(now);
    else this.#requester.replaceChildren(facts([["Packets sent", count(now.packets_sent)]]));
  }

  #connection({ requester, responder, packets_sent: sent }) {
    this.#recovery.show(requester.recovery);
    this.#congestion.show(requester.congestion?.algorithm ?? "off");
    this.#sent.show(requester);
    this.#held.show(responder);
    this.#timers.show(requester);
    this.#requester.replaceChildren(html("h3", {}, "Requester"), facts([
      ["Packets sent", count(sent)],
      ["In flight", `${requester.in_flight} of ${requester.window}`],
      ["Credits", requester.credits === null ? "not given" : `${Math.max(requester.credits, 0)} messages`],
      ["READs under way", String(requester.reads_under_way)],
      ["Retries left", requester.retries_left === null ? "–" : String(requester.retries_left)],
      ["RNR retries left", requester.rnr_retries_left === null ? "without limit" : String(requester.rnr_retries_left)],
      ["Selective acks", requester.selective_acks ? "agreed" : requester.peer_is_stranger ? "not offered by the peer" : "no"],
      ["Waits", requester.waits_for_receive ? "for a receive (RNR)" : requester.waits_for_credit ? "for a credit" : "no"],
    ]));
    this.#responder.replaceChildren(html("h3", {}, "Responder"), facts([
      ["Expects PSN", String(responder.expected_psn)],
      ["MSN", String(responder.msn)],
      ["Credits given", responder.credits === null ? "none: shared receives" : String(responder.credits)],
      ["Hole", responder.has_hole ? "waits for a lost packet" : "no"],
      ["Owes responses", yes(responder.owes_responses)],
    ]));
  }
}
