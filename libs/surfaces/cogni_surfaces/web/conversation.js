// A conversation on the screen: asking, stopping, reopening, going on after a reload.

import { newKey, Problem } from "./api.js";
import { byId, el } from "./dom.js";
import { keep, kept } from "./kept.js";
import { t } from "./texts.js";
import { TurnView } from "./turn.js";

const SHOWN_AT_ONCE = 10;
const NEAR_PX = 64;
const TOO_SOON_MS = 500; // the second half of a double click on Send is no Stop

export class Conversation {
  /** `asked()` gives what goes with each question: surface and subject. `changed(running)` is told. */
  constructor(api, say, asked, changed) {
    Object.assign(this, { api, say, asked, changed, log: byId("log"), id: null, running: null, pinned: true, missed: [] });
    this.log.addEventListener("scroll", () => this.noteScroll());
    byId("latest").addEventListener("click", () => this.toEnd(true));
    this.grown = new ResizeObserver(() => this.moved());
    this.grown.observe(this.log);
  }

  /** Go along with this person's other tabs: a conversation that goes on there goes on here. */
  join(person) {
    this.others?.close();
    try {
      this.others = new BroadcastChannel(`cogni:${person}`);
      this.others.addEventListener("message", ({ data }) => this.heard(data));
    } catch {
      // refused, as storage can be: each tab goes on by itself
    }
  }

  heard({ conversation, run, question }) {
    if (conversation !== this.id) return;
    if (this.running) this.missed.push({ conversation, run, question });
    else this.follow(run, question);
  }

  /** Show a run that was begun elsewhere, from its first event. */
  async follow(run, question) {
    const turn = this.view(question);
    turn.run = run;
    this.log.append(turn.node);
    await this.drive(turn, (on) => this.api.attach(run, 0, on));
  }

  view(question) {
    byId("welcome").hidden = true;
    const services = { api: this.api, say: (text, busy) => this.say(text, busy), retry: (again) => this.ask(again), moved: () => this.moved() };
    const turn = new TurnView(question, services);
    this.grown.observe(turn.node);
    return turn;
  }

  /** Ask; a question under way is answered first. */
  async ask(message, key = newKey(), body = null) {
    if (this.running) return;
    const asking = body ?? { message, ...(this.id ? { conversation_id: this.id } : {}), ...this.asked() };
    keep("asking", { key, body: asking });
    const turn = this.view(message);
    this.log.append(turn.node);
    this.toEnd(true);
    this.say(t("starting"), true);
    await this.drive(turn, (on) => this.api.ask(asking, on, key), true);
  }

  async drive(turn, events, own = false) {
    const run = (this.running = { turn, since: Date.now(), stop: false, own });
    this.log.setAttribute("aria-busy", "true");
    this.changed(true);
    try {
      await this.read(turn, events, run);
    } catch (error) {
      this.failed(turn, error);
    } finally {
      this.running = null;
      this.log.setAttribute("aria-busy", "false");
      this.changed(false);
      const next = this.missed.shift();
      if (next) this.heard(next);
    }
  }

  async read(turn, events, run) {
    const on = { lost: () => this.say(t("reconnecting"), true), back: () => this.say("", true) };
    for await (const event of events(on)) {
      turn.take(event);
      if (event.event === "run") {
        this.id = event.data.conversation_id;
        keep("conversation", this.id);
        keep("asking", null);
        keep("run", { run: event.data.run_ref, question: turn.question });
        if (run.own) this.others?.postMessage({ conversation: this.id, run: event.data.run_ref, question: turn.question });
        if (run.stop) this.sendStop(run);
      }
      if (event.event === "done" || event.event === "failed") this.ended(event.data.outcome);
    }
  }

  ended({ kind }) {
    keep("run", null);
    const said = { proposed: "proposalReady", halted: "answerStopped", failed: "answerFailed" }[kind];
    this.say(t(said ?? "answerReady"), false, true);
  }

  failed(turn, error) {
    if (!(error instanceof Problem)) throw error;
    const { status, message, retryAfter } = error;
    const own = { 0: "offline", 401: "signIn", 403: "disabled", 429: "busy" }[status];
    const text = (status === 401 ? "" : message) || t(own ?? "wentWrong");
    if (status >= 400 && status !== 401) keep("asking", null);
    turn.fail(text, status === 429 || status === 503 ? retryAfter : 0);
    this.say(t("answerFailed"));
  }

  stop() {
    const run = this.running;
    if (!run || run.stop || Date.now() - run.since < TOO_SOON_MS) return;
    run.stop = true;
    this.say(t("stopping"), true);
    if (run.turn.run) this.sendStop(run);
  }

  async sendStop(run) {
    try {
      await this.api.post(`/v1/runs/${run.turn.run}/stop`);
    } catch {
      run.stop = false; // it can be pressed again
      this.say(t("noConnection"));
    }
  }

  /** Go on in a conversation that has no question yet. */
  begin(id) {
    this.id = id;
    keep("conversation", id);
  }

  /** Begin anew; what is under way goes on at the server and stays in the list. */
  clear() {
    this.id = null;
    for (const name of ["conversation", "run", "asking"]) keep(name, null);
    for (const node of [...this.log.children]) if (node.id !== "welcome") node.remove();
    byId("welcome").hidden = false;
    this.say("");
  }

  /** Go on where a reload, or a closed tab's neighbour, left off; `shown()` is told when what was is on the screen. */
  async resume(shown) {
    const [id, run, asking] = [kept("conversation"), kept("run"), kept("asking")];
    const there = id ? await this.reopen(id) : [];
    shown();
    if (run && !there.includes(run.run)) await this.follow(run.run, run.question);
    else if (asking && !this.running) await this.ask(asking.body.message, asking.key, asking.body);
  }

  /** Show a conversation of one's own; return its runs. */
  async reopen(id) {
    let found;
    try {
      found = await this.api.get(`/v1/conversations/${id}`);
    } catch (error) {
      if (error.status === 404) this.clear();
      else this.say(error.message || t("offline"));
      return [];
    }
    const run = kept("run");
    const asking = kept("asking");
    this.clear();
    this.id = id;
    keep("conversation", id);
    keep("run", run);
    keep("asking", asking);
    await this.replay(found.turns);
    if (found.ended_at) {
      this.say(t("ended"));
      this.id = null;
    }
    this.toEnd(true);
    return found.turns.map((turn) => turn.run_ref);
  }

  async replay(turns) {
    const earlier = turns.slice(0, -SHOWN_AT_ONCE);
    const views = await Promise.all(turns.slice(-SHOWN_AT_ONCE).map((turn) => this.replayed(turn)));
    const nodes = views.map((view) => view.node);
    if (earlier.length) {
      const more = el("button", { type: "button", text: t("earlier") });
      more.addEventListener("click", async () => {
        more.disabled = true;
        const made = await Promise.all(earlier.map((turn) => this.replayed(turn)));
        more.replaceWith(...made.map((view) => view.node));
      });
      nodes.unshift(more);
    }
    this.log.append(...nodes);
  }

  /** Return a past turn, from the events that its run left; they are checked against what may be read today. */
  async replayed({ run_ref: run, question, answer }) {
    const turn = this.view(question);
    const loud = turn.say;
    turn.say = () => {};
    try {
      for await (const event of this.api.attach(run, 0)) turn.take(event);
    } catch {
      turn.withhold(answer);
    }
    turn.say = loud;
    return turn;
  }

  noteScroll() {
    this.pinned = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < NEAR_PX;
    byId("latest").hidden = this.pinned;
  }

  /** Stay at the end for who is there, and where they are for who reads further up. */
  moved() {
    if (this.pinned) this.toEnd(false);
    else byId("latest").hidden = false;
  }

  toEnd(wanted) {
    if (wanted) this.pinned = true;
    this.log.scrollTop = this.log.scrollHeight;
  }
}
