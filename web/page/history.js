// The last minutes of every device's counters, as rates.

const kMost = 600; // samples; five minutes at two a second

const kGoodAway = ["duplicate_request", "rx_held_duplicates", "rx_held_discards", "out_of_buffer"];
const kLost = ["link_tx_lost", "link_tx_burst_lost", "link_tx_queue_full", "link_tx_buffer_full", "link_tx_cut_dropped", "link_tx_fault_dropped",
  "link_rx_lost", "link_rx_burst_lost", "link_rx_queue_full", "link_rx_buffer_full", "link_rx_shared_buffer_full", "link_rx_cut_dropped", "link_rx_fault_dropped"];

const sum = (counters, names) => names.reduce((total, name) => total + (counters[name] ?? 0), 0);

export class History {
  #devices = new Map();
  #last = null;

  /** Takes an overview. After the device process has begun anew, the counters begin anew. */
  add(overview) {
    const last = this.#last;
    this.#last = overview;
    if (!last || last.pid !== overview.pid || overview.time_ms <= last.time_ms) return;
    const seconds = (overview.time_ms - last.time_ms) / 1000;
    for (const [device, counters] of Object.entries(overview.counters)) {
      const before = last.counters[device];
      if (before) this.#append(device, this.#rates(overview.time_ms, seconds, before, counters));
    }
  }

  /** Oldest first: time in ms, rates a second. */
  of(device) {
    return this.#devices.get(device) ?? [];
  }

  // Goodput is what was received less what was received in vain: repeats, and what could not be kept. Their sizes
  // are not counted, so they count as packets of the average size.
  #rates(time, seconds, before, now) {
    const grown = (name) => Math.max((now[name] ?? 0) - (before[name] ?? 0), 0);
    const received = grown("port_rcv_packets");
    const vain = Math.min(kGoodAway.reduce((total, name) => total + grown(name), 0), received);
    const bits = grown("port_rcv_data") * 32;
    const sent = grown("port_xmit_packets");
    const lost = Math.max(sum(now, kLost) - sum(before, kLost), 0);
    return {
      time,
      goodput: received === 0 ? 0 : bits * (1 - vain / received) / seconds,
      sent: grown("port_xmit_data") * 32 / seconds,
      lost: lost / seconds,
      loss: sent + received === 0 ? 0 : lost / (sent + received),
      again: grown("retrans_pkts") / seconds,
    };
  }

  #append(device, rates) {
    if (!this.#devices.has(device)) this.#devices.set(device, []);
    const all = this.#devices.get(device);
    all.push(rates);
    if (all.length > kMost) all.shift();
  }
}
