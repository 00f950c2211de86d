// The product's HTTP contract, as this frame uses it.

const SILENCE_MS = 45_000; // the server says something every 15 s
const WAITS_MS = [400, 800, 1600, 3200, 6400, 8000, 8000, 8000];

/** What went wrong, for the person: `status` 0 is a lost connection. */
export class Problem extends Error {
  constructor(status, message, retryAfter = 0) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Return a key that makes repeating a request harmless. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Api {
  /** `token(refresh)` gives the host's token, a new one where `refresh`. */
  constructor(token) {
    this.token = token;
    this.locale = "en";
  }

  async request(method, path, { body, key, headers = {}, signal } = {}) {
    for (const refresh of [false, true]) {
      const response = await this.sent(method, path, { body, key, headers, signal }, refresh);
      if (response.status === 401 && !refresh) continue;
      if (!response.ok) throw await problemOf(response);
      return response;
    }
  }

  async sent(method, path, { body, key, headers, signal }, refresh) {
    const all = { Authorization: `Bearer ${await this.token(refresh)}`, "Accept-Language": this.locale, ...headers };
    if (key) all["Idempotency-Key"] = key;
    const raw = body instanceof Blob;
    if (body !== undefined && !raw) all["Content-Type"] = "application/json";
    const sending = body === undefined || raw ? body : JSON.stringify(body);
    try {
      return await fetch(path, { method, headers: all, body: sending, signal, credentials: "omit", cache: "no-store", redirect: "error" });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Problem(0, "");
    }
  }

  async json(method, path, options) {
    const response = await this.request(method, path, options);
    return response.status === 202 || response.status === 204 ? null : response.json();
  }

  get = (path) => this.json("GET", path);
  post = (path, body, key = newKey()) => this.json("POST", path, { body, key });

  /** Ask; yields {id, event, data} up to the terminal one, over as many connections as it takes. */
  ask(body, on, key = newKey()) {
    return this.followed({ body, key, run: null, cursor: 0 }, on);
  }

  /** Read a run's events after `cursor`. */
  attach(run, cursor, on) {
    return this.followed({ run, cursor }, on);
  }

  /** `on.lost(again)`: the connection went; `again` tells whether it is tried once more. `on.back()`: it is there. */
  async *followed(at, on = {}) {
    let failures = 0;
    for (;;) {
      try {
        for await (const event of this.connected(at)) {
          if (failures) on.back?.();
          failures = 0;
          if (event.event === "run") at.run = event.data.run_ref;
          at.cursor = event.id;
          yield event;
          if (event.event === "done" || event.event === "failed") return;
        }
        throw new Problem(0, "");
      } catch (error) {
        if (!(error instanceof Problem) || !(error.status === 0 || (at.run && error.status >= 500))) throw error;
        if (failures >= WAITS_MS.length) throw error;
        on.lost?.();
        await waited(WAITS_MS[failures] * (0.75 + Math.random() / 2));
        failures += 1;
      }
    }
  }

  async *connected({ body, key, run, cursor }) {
    const aborter = new AbortController();
    const headers = { Accept: "text/event-stream", ...(run ? { "Last-Event-ID": String(cursor) } : {}) };
    const options = run ? { headers } : { headers, body, key };
    const path = run ? `/v1/runs/${run}/events` : "/v1/turns";
    const response = await this.request(run ? "GET" : "POST", path, { ...options, signal: aborter.signal });
    try {
      yield* serverEvents(response.body, () => aborter.abort());
    } finally {
      aborter.abort();
    }
  }
}

/** Yield the events of a stream; one that falls silent is given up, as a lost connection. */
export async function* serverEvents(stream, giveUp) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    let silent;
    const silence = new Promise((_, fail) => {
      silent = setTimeout(() => fail(new Problem(0, "")), SILENCE_MS);
    });
    let piece;
    try {
      piece = await Promise.race([reader.read(), silence]);
    } catch {
      giveUp();
      throw new Problem(0, "");
    } finally {
      clearTimeout(silent);
    }
    if (piece.done) return;
    held += piece.value;
    const blocks = held.split(/\r?\n\r?\n/);
    held = blocks.pop();
    for (const block of blocks) {
      const event = eventOf(block);
      if (event) yield event;
    }
  }
}

function eventOf(block) {
  const found = { id: 0, event: "message", data: "" };
  for (const line of block.split(/\r?\n/)) {
    const [, field, value] = /^(id|event|data): ?(.*)$/s.exec(line) ?? [];
    if (field === "id") found.id = Number(value);
    else if (field === "data") found.data += value;
    else if (field) found.event = value;
  }
  return found.data ? { ...found, data: JSON.parse(found.data) } : null;
}

async function problemOf(response) {
  let title = "";
  try {
    title = (await response.json()).title ?? "";
  } catch {
    // not one of ours: a proxy's page
  }
  return new Problem(response.status, title, Number(response.headers.get("Retry-After")) || 0);
}

/** Wait, or less where the browser says that it is online again. */
function waited(ms) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
  });
}
