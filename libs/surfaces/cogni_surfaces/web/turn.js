// One question and what comes of it: text while it streams, then the server's rendering in its place.

import { toolCard } from "./cards.js";
import { el, fromServer, icon, iconButton } from "./dom.js";
import { feedback } from "./feedback.js";
import { LiveText, PLACES } from "./live.js";
import { openSource } from "./panels.js";
import { ProposalCard } from "./proposal.js";
import { steady } from "./steady.js";
import { moment, phaseText, t } from "./texts.js";
import { framed, widget } from "./widgets.js";

export class TurnView {
  /** `services`: api, say(text) for the status line, retry(question), moved() after the view grew. */
  constructor(question, services) {
    Object.assign(this, services);
    this.question = question;
    this.citations = new Map();
    this.widgets = new Map();
    this.proposals = new Map();
    this.tail = "";
    this.parts = Object.fromEntries(["tools", "answer", "cards", "note", "foot", "actions", "form"].map((name) => [name, el("div", {})]));
    this.parts.answer.className = "answer";
    this.parts.answer.dir = "auto";
    this.parts.actions.className = "actions";
    this.node = el("article", { "aria-label": question }, el("div", { class: "question", dir: "auto", text: question }), ...Object.values(this.parts));
  }

  /** Take one event of the run. */
  take({ event, data }) {
    const takers = {
      run: () => (this.run = data.run_ref),
      phase: () => this.say(phaseText(data), true),
      token: () => this.addText(data.text),
      tool_completed: () => this.parts.tools.append(toolCard(data)),
      marker: () => this.widgets.set(data.marker, this.widget(data.marker.slice(2, -2).split(":")[1], data)),
      citation: () => this.citations.set(data.handle, data),
      proposal: () => this.proposed(data),
      done: () => this.finish(data.outcome),
      failed: () => this.finish(data.outcome),
    };
    takers[event]?.();
    if (event !== "token") this.moved();
  }

  addText(text) {
    this.tail += text;
    this.due ??= requestAnimationFrame(() => {
      this.due = null;
      this.flush();
      this.moved();
    });
  }

  /** Show what came since the last time. */
  flush() {
    this.live ??= new LiveText(this.parts.answer, (place) => this.placed(place));
    this.live.add(this.tail);
    this.tail = "";
    this.disclose();
  }

  /** Say that it is generated as soon as there is something that is. */
  disclose() {
    if (!this.parts.foot.firstChild) this.parts.foot.append(el("p", { class: "fine generated", text: t("generated") }));
  }

  /** What stands in the place of a source or widget, null where the answer has none of that name. */
  placed(text) {
    if (text.startsWith("[[")) return this.widgets.get(text) ?? null;
    const handle = text.slice(1, -1);
    return this.citations.has(handle) ? el("sup", { class: "source" }, this.chip(handle)) : null;
  }

  widget(ref, issued = null) {
    return widget(this.api, this.run, ref, issued, (handle) => (this.citations.has(handle) ? this.chip(handle) : null));
  }

  /** The number of a source within this answer, from 1. */
  number(handle) {
    return [...this.citations.keys()].indexOf(handle) + 1;
  }

  chip(handle) {
    const citation = this.citations.get(handle);
    const n = this.number(handle);
    const label = t("source", { n, label: citation.label });
    return el("button", { class: "chip", type: "button", "aria-label": label, title: citation.label, text: n, onclick: () => openSource(this.api, this.run, citation) });
  }

  proposed(proposal) {
    const known = this.proposals.get(proposal.id);
    if (known) return known.update(proposal);
    const card = new ProposalCard(this.api, proposal, (text) => this.say(text));
    this.proposals.set(proposal.id, card);
    this.parts.cards.append(card.node);
  }

  /** Put the rendered outcome where the streamed text was. */
  finish(outcome) {
    cancelAnimationFrame(this.due);
    this.due = null;
    this.run = outcome.run_ref;
    this.text = outcome.text ?? "";
    for (const citation of outcome.citations ?? []) this.citations.set(citation.handle, citation);
    if (outcome.proposal) this.proposed(outcome.proposal);
    steady(this.parts.answer, () => this.parts.answer.replaceChildren(...this.rendered(outcome.html).childNodes));
    if (outcome.more) this.offerRest();
    this.parts.note.replaceChildren(...this.notes(outcome));
    this.parts.foot.replaceChildren(...(answered(outcome) ? this.disclosures(outcome) : []));
    this.parts.actions.replaceChildren(...this.buttons());
  }

  rendered(html) {
    const answer = fromServer(html).querySelector(".answer") ?? el("div", {});
    for (const mark of answer.querySelectorAll("sup.source")) {
      if (this.citations.has(mark.dataset.handle)) mark.replaceChildren(this.chip(mark.dataset.handle));
      else mark.remove();
    }
    for (const place of answer.querySelectorAll("span.widget")) {
      const made = this.widgets.get(`[[${place.dataset.kind}:${place.dataset.ref}]]`);
      place.replaceWith(made ?? this.widget(place.dataset.ref));
    }
    for (const block of answer.children) block.setAttribute("dir", "auto");
    framed(answer);
    return answer;
  }

  offerRest() {
    const more = el("button", { type: "button", text: t("rest") });
    more.addEventListener("click", async () => {
      more.disabled = true;
      try {
        const { html, text } = await this.api.get(`/v1/runs/${this.run}/rest`);
        this.text += text;
        const rest = [...this.rendered(html).childNodes];
        more.replaceWith(...rest);
        const first = rest.find((node) => node.nodeType === Node.ELEMENT_NODE);
        first?.setAttribute("tabindex", "-1");
        first?.focus({ preventScroll: true });
      } catch (error) {
        more.disabled = false;
        this.say(error.message || t("wentWrong"));
      }
    });
    this.parts.answer.append(more);
  }

  notes({ kind, message, text }) {
    if (kind === "completed" || kind === "proposed") return [];
    const next = { refused: "nextRefused", halted: "nextHalted", failed: "nextFailed" }[kind];
    const said = message && !(text ?? "").includes(message) ? el("p", { dir: "auto", text: message }) : null;
    return [note(kind === "failed", said, el("p", { text: t(next) }), kind === "refused" ? null : this.retryButton(kind === "halted" ? "askAgain" : "retry"))];
  }

  retryButton(name = "retry") {
    return el("button", { type: "button", text: t(name), onclick: () => this.retry(this.question) });
  }

  disclosures({ citations, indexed_through: through, generated_label: label, text }) {
    const listed = (citations ?? []).map((citation) =>
      el("li", {}, el("button", { type: "button", onclick: () => openSource(this.api, this.run, citation) },
        el("b", { text: this.number(citation.handle) }),
        el("span", {}, el("bdi", { text: citation.label }), " ", el("bdi", { class: "place", text: place(citation) })))),
    );
    const sources = listed.length ? el("ul", { class: "sources", "aria-label": t("sources") }, ...listed) : null;
    const lines = [
      listed.length || !text ? null : t("noSources"),
      through ? t("freshness", { when: moment(through) }) : t("freshnessUnknown"),
    ];
    const generated = el("span", { class: "generated", text: label || t("generated") });
    return [sources, el("p", { class: "fine" }, lines.filter(Boolean).join(" "), " ", generated)].filter(Boolean);
  }

  buttons() {
    const copy = iconButton("copy", t("copy"), async () => this.say(t((await copied(this.asCopied())) ? "copied" : "notCopied")));
    const again = iconButton("retry", t("askAgain"), () => this.retry(this.question));
    return [copy, again, ...feedback(this.api, this.run, this.parts.form, this.say)];
  }

  /** The text as it goes elsewhere: numbers where its sources are, and no places of widgets. */
  asCopied() {
    return this.text.split(PLACES).map((piece) => (this.citations.has(piece.slice(1, -1)) ? `[${this.number(piece.slice(1, -1))}]` : PLACES.test(piece) ? "" : piece)).join("");
  }

  /** Show what kept the question from being answered; the question can be asked again. */
  fail(message, retryAfter = 0) {
    const again = this.retryButton();
    const text = el("p", { text: message });
    this.parts.note.replaceChildren(note(true, text, again));
    if (retryAfter) countDown(retryAfter, again);
    this.moved();
  }

  /** Stand in for an answer whose sources this person cannot read any more. */
  withhold(answer) {
    this.parts.note.replaceChildren(note(false, el("p", { dir: "auto", text: answer || t("withheld") })));
  }
}

/** Tell whether there is anything but the product's own word that there is no answer. */
function answered({ kind, text, message }) {
  return kind === "completed" || kind === "proposed" || Boolean((text ?? "").replace(message ?? "", "").trim());
}

/** What of a locator the label has not said yet. */
function place({ label, locator }) {
  return locator?.startsWith(label) ? locator.slice(label.length).replace(/^[\s›,]+/, "") : locator;
}

const note = (bad, ...content) => el("div", { class: bad ? "note bad" : "note" }, bad ? icon("alert") : null, el("div", {}, ...content));

function countDown(seconds, button) {
  button.disabled = true;
  const left = el("p", { class: "fine", text: t("tryIn", { n: seconds }) });
  button.before(left);
  const timer = setInterval(() => {
    seconds -= 1;
    left.textContent = t("tryIn", { n: seconds });
    if (seconds > 0) return;
    clearInterval(timer);
    left.remove();
    button.disabled = false;
  }, 1000);
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const before = document.activeElement;
    const holder = document.body.appendChild(el("textarea", { class: "copied", "aria-hidden": "true" }));
    holder.value = text;
    holder.select();
    const done = document.execCommand("copy");
    holder.remove();
    before?.focus();
    return done;
  }
}
