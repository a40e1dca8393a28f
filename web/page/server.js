// The server behind the page. The token is in the address behind "#", which a browser sends to nobody. It goes to
// this tab's storage and from the address, so that the address can be shown to others.

const kKey = "urnic-token";

function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  if (token !== null) {
    sessionStorage.setItem(kKey, token);
    given.delete("token");
    history.replaceState(null, "", `#${given}`);
  }
  return sessionStorage.getItem(kKey);
}

export const token = takeToken();

const headers = { Authorization: `Bearer ${token}` };

async function checked(answer) {
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  throw Object.assign(new Error(body.error ?? `The server answered with ${answer.status}.`), { status: answer.status });
}

/** JSON at `path`. Throws an Error with the server's words. */
export async function ask(path) {
  return (await checked(await fetch(path, { headers }))).json();
}

export async function askBlob(path) {
  return (await checked(await fetch(path, { headers }))).blob();
}

/** Changes something. Throws an Error with the server's words. */
export async function act(path, action = {}) {
  const body = JSON.stringify(action);
  return (await checked(await fetch(path, { method: "POST", headers, body }))).json();
}

/** Reads server-sent events, for which EventSource could not send the token. Calls handlers[event](data). Opens the
    stream anew when it ends, until `close` is called. `onlost(error)` says that it has ended. */
export class EventStream {
  #abort = new AbortController();

  constructor(path, handlers, onlost) {
    this.#run(path, handlers, onlost);
  }

  close() {
    this.#abort.abort();
  }

  async #run(path, handlers, onlost) {
    while (!this.#abort.signal.aborted) {
      try {
        const answer = await checked(await fetch(path, { headers, signal: this.#abort.signal }));
        await this.#read(answer.body.getReader(), handlers);
        throw new Error("The server has ended.");
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        onlost(error);
        if (error.status === 401) return;
        await new Promise((resume) => setTimeout(resume, 1000));
      }
    }
  }

  async #read(reader, handlers) {
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const events = text.split("\n\n");
      text = events.pop();
      for (const event of events) this.#hand(event, handlers);
    }
  }

  #hand(event, handlers) {
    const [first, second] = event.split("\n");
    if (!first.startsWith("event: ") || this.#abort.signal.aborted) return;
    handlers[first.slice(7)]?.(JSON.parse(second.slice(6)));
  }
}
