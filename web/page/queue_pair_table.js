// The table of queue pairs. Rows stay where they are while their numbers change; at most kShown are in the page,
// the busiest first: nobody reads a thousand.

import { html, say } from "./elements.js";
import { count, scaled } from "./numbers.js";

const kShown = 200;

const kColumns = [
  { label: "Queue pair", key: (row) => row.key, text: (row) => row.key },
  { label: "Program", key: (row) => row.program, text: (row) => row.program },
  { label: "Service", key: (row) => row.service, text: (row) => row.service },
  { label: "State", key: (row) => row.state, text: (row) => row.state },
  { label: "Peer", key: (row) => row.peer, text: (row) => row.peer },
  { label: "Packets", number: true, key: (row) => row.sent, text: (row) => count(row.sent) },
  { label: "Rate", number: true, key: (row) => row.rate, text: (row) => row.rate > 0 ? scaled(row.rate, "/s") : "–" },
  { label: "In flight", number: true, key: (row) => row.inFlight, text: (row) => row.inFlight },
  { label: "Lost", number: true, key: (row) => row.lost, text: (row) => row.lost },
  { label: "Waits for", key: (row) => row.waits, text: (row) => row.waits },
];

function waits(row) {
  const requester = row.requester ?? {};
  return [requester.waits_for_receive && "a receive (RNR)", requester.waits_for_credit && "a credit", row.waits_for_memory && "memory",
    row.responder?.has_hole && "a lost packet", requester.transport_retries > 0 && `retry ${requester.transport_retries}`].filter(Boolean).join(", ");
}

export class QueuePairTable {
  #programs = new Map();
  #rows = new Map(); // by key
  #shown = new Map(); // by key: { tr, cells }
  #sort = { column: 6, down: true };
  #filter;
  #summary = html("p", { class: "quiet", role: "status" });
  #body = html("tbody");
  #heads = [];
  #sortedAt = 0;
  element;

  constructor() {
    this.#filter = html("input", { type: "search", placeholder: "device, program, state, number", "aria-label": "Filter the queue pairs", oninput: () => this.#refresh(true) });
    this.#heads = kColumns.map((column, place) => html("th", { scope: "col", class: column.number ? "number" : null },
      html("button", { type: "button", onclick: () => this.#sortBy(place) }, column.label)));
    this.element = html("div", { class: "stack" },
      html("div", { class: "row" }, html("label", {}, html("span", { class: "quiet" }, "Filter "), this.#filter), this.#summary),
      html("div", { class: "scroll table-window", tabindex: 0, role: "region", "aria-label": "Queue pairs" },
        html("table", {}, html("caption", { class: "hidden-text" }, "Queue pairs; the button in a row opens the queue pair"), html("thead", {}, html("tr", {}, this.#heads)), this.#body)));
  }

  programs(contexts) {
    this.#programs = new Map(contexts.map((context) => [context.id, context.program]));
  }

  show(queuePairs) {
    const now = performance.now();
    for (const key of this.#rows.keys()) if (!queuePairs.has(key)) this.#rows.delete(key);
    for (const [key, row] of queuePairs) this.#rows.set(key, this.#read(key, row, this.#rows.get(key), now));
    this.#refresh(now - this.#sortedAt > 3000);
  }

  #read(key, row, last, now) {
    const same = last && last.raw === row;
    const rate = !last ? 0 : same ? (now - last.at > 1500 ? 0 : last.rate) : Math.max((row.packets_sent - last.sent) * 1000 / (now - last.at), 0);
    return {
      key, rate, raw: row, at: same ? last.at : now, program: this.#programs.get(row.context) ?? "", service: row.service, state: row.state,
      peer: row.destination_qpn === 0 && !row.requester ? "" : `${row.destination_device ?? "outside"}/${row.destination_qpn}`,
      sent: row.packets_sent, inFlight: row.requester?.in_flight ?? 0, lost: row.requester?.lost ?? 0, waits: waits(row),
    };
  }

  #sortBy(column) {
    this.#sort = { column, down: this.#sort.column === column ? !this.#sort.down : Boolean(kColumns[column].number) };
    this.#refresh(true);
  }

  #wanted() {
    const words = this.#filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = [...this.#rows.values()].filter((row) => {
      const text = `${row.key} ${row.program} ${row.service} ${row.state} ${row.peer} ${row.waits}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const { column, down } = this.#sort;
    const key = kColumns[column].key;
    const sign = down ? -1 : 1;
    return all.sort((a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : a.key < b.key ? -1 : 1));
  }

  // The order is made anew every few seconds only: rows that jump cannot be clicked.
  #refresh(sort) {
    const all = sort || this.#body.children.length === 0 ? this.#wanted() : null;
    if (all) this.#arrange(all);
    for (const [key, { cells }] of this.#shown) {
      const row = this.#rows.get(key);
      if (row) kColumns.forEach((column, place) => this.#put(cells[place], column, row));
    }
  }

  #arrange(all) {
    this.#sortedAt = performance.now();
    const shown = all.slice(0, kShown);
    const keys = new Set(shown.map((row) => row.key));
    for (const [key, { tr }] of this.#shown) {
      if (keys.has(key)) continue;
      tr.remove();
      this.#shown.delete(key);
    }
    const focused = document.activeElement;
    shown.forEach((row, place) => {
      if (!this.#shown.has(row.key)) this.#shown.set(row.key, this.#make(row.key));
      const { tr } = this.#shown.get(row.key);
      if (this.#body.children[place] !== tr) this.#body.insertBefore(tr, this.#body.children[place] ?? null);
    });
    if (this.#body.contains(focused)) focused.focus();
    this.#heads.forEach((head, place) => {
      if (place === this.#sort.column) head.setAttribute("aria-sort", this.#sort.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const total = this.#rows.size;
    say(this.#summary, total === 0 ? "There are none." : all.length > kShown ? `${kShown} of ${count(all.length)}` : `${count(all.length)} of ${count(total)}`);
  }

  #make(key) {
    const open = () => { location.hash = `qp=${key}`; };
    const button = html("button", { type: "button", onclick: (event) => { event.stopPropagation(); open(); } });
    const state = html("span", { class: "state" });
    const cells = kColumns.map((column, place) => place === 0 ? button : column.label === "State" ? state : html("span"));
    const tr = html("tr", { class: "opens", onclick: open }, kColumns.map((column, place) => html("td", { class: column.number ? "number" : null }, cells[place])));
    return { tr, cells };
  }

  #put(cell, column, row) {
    say(cell, String(column.text(row)));
    if (column.label === "State") cell.className = `state ${row.state}`;
    if (column.label === "Lost") cell.className = row.lost > 0 ? "bad" : "";
  }
}
