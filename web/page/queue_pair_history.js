// The last minutes of one queue pair, as rates.

import { psnDistance } from "./numbers.js";

const kMost = 600;

export class QueuePairHistory {
  #points = { goodput: [], again: [], roundTrip: [], inFlight: [] };
  #last = null;

  /** `time`: of the server, in milliseconds. Events may come late, and then several at once. */
  add(now, time) {
    const last = this.#last;
    this.#last = { time, now };
    if (!now.requester) return;
    this.#append("roundTrip", [time, now.requester.round_trip_us]);
    this.#append("inFlight", [time, now.requester.in_flight]);
    if (!last?.now.requester || last.now.state !== now.state) return;
    const seconds = (time - last.time) / 1000;
    const acknowledged = psnDistance(last.now.requester.unacknowledged_psn, now.requester.unacknowledged_psn);
    const fresh = psnDistance(last.now.requester.next_psn, now.requester.next_psn);
    const sent = now.packets_sent - last.now.packets_sent;
    this.#append("goodput", [time, acknowledged / seconds]);
    // A READ takes PSNs for which it sends no packets, so this may be less than nothing.
    this.#append("again", [time, Math.max(sent - fresh, 0) / seconds]);
  }

  points(name) {
    return this.#points[name];
  }

  #append(name, point) {
    this.#points[name].push(point);
    if (this.#points[name].length > kMost) this.#points[name].shift();
  }
}
