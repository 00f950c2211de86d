// Talking to the host page. The frame believes its parent alone, from the one origin that mounted it.

const TOKEN_WAIT_MS = 15_000;

export class Host {
  constructor() {
    this.origin = originOf(new URLSearchParams(location.hash.slice(1)).get("host"));
    this.handlers = {};
    this.token = null;
    this.waiting = null;
    addEventListener("message", (event) => this.heard(event));
  }

  on(type, handler) {
    this.handlers[type] = handler;
  }

  send(type, more = {}) {
    if (this.origin && parent !== window) parent.postMessage({ type, ...more }, this.origin);
  }

  /** Return the token, held in memory alone; ask the host for another where the last one is no good. */
  async tokenFor(refresh) {
    if (this.token && !refresh) return this.token;
    this.waiting ??= this.asked().finally(() => {
      this.waiting = null;
    });
    return this.waiting;
  }

  asked() {
    return new Promise((resolve) => {
      const late = setTimeout(() => this.arrived(null), TOKEN_WAIT_MS);
      this.arrived = (token) => {
        clearTimeout(late);
        this.token = token;
        resolve(token ?? "");
      };
      this.send("cogni:token-needed");
    });
  }

  heard(event) {
    if (event.source !== parent || parent === window || event.origin !== this.origin) return;
    const message = event.data;
    if (typeof message !== "object" || message === null || typeof message.type !== "string") return;
    if (message.type === "cogni:init" || message.type === "cogni:token") {
      const token = typeof message.token === "string" ? message.token : null;
      this.token = token;
      this.arrived?.(token);
    }
    this.handlers[message.type]?.(message);
  }
}

function originOf(text) {
  try {
    return new URL(text).origin;
  } catch {
    return null;
  }
}

/** Return a subject reference, or null: two short names and nothing of the record. */
export function subjectOf(given) {
  const { kind, id } = given ?? {};
  return typeof kind === "string" && typeof id === "string" ? { kind, id } : null;
}

/** Name whose token this is, to keep people apart in one tab; the server alone believes what it says. */
export function ownerOf(token) {
  try {
    const claims = JSON.parse(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")));
    return `${claims.iss}:${claims.sub}`;
  } catch {
    return "";
  }
}
