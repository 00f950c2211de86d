// The step between a proposal and a change: everything named, decided in plain view, by this person alone.

import { newKey } from "./api.js";
import { listed } from "./cards.js";
import { el, icon } from "./dom.js";
import { moment, t } from "./texts.js";

const SEEN_MS = 400; // long enough that nobody accepts what slid under the pointer
const LOOKS = 20;
const OPEN = new Set(["accepted", "executing"]);
const WATCHES_COVER = "isVisible" in (globalThis.IntersectionObserverEntry?.prototype ?? {});

export class ProposalCard {
  constructor(api, proposal, onChange) {
    this.api = api;
    this.proposal = proposal;
    this.onChange = onChange;
    this.keys = { accept: newKey(), decline: newKey() };
    this.details = el("div", {});
    this.foot = el("div", {});
    this.node = el("section", { class: "proposal", "aria-label": t("proposal") }, this.details, this.foot);
    this.draw();
  }

  /** Take what is known now, like the arguments that the outcome names. */
  update(proposal) {
    this.proposal = { ...this.proposal, ...proposal };
    this.draw();
    if (this.accept) this.foot.scrollIntoView({ block: "nearest" });
  }

  draw() {
    const { rendering = {}, arguments: args, state = "pending" } = this.proposal;
    const late = state === "pending" && new Date(this.proposal.expires_at) <= new Date();
    this.details.replaceChildren(
      el("h3", { dir: "auto", text: rendering.title || t("proposal") }),
      ...steps(rendering.steps),
      ...(args && Object.keys(args).length ? [el("h4", { text: t("proposalWith") }), listed(args)] : []),
    );
    if (state === "pending" && !late) this.offer();
    else {
      this.watch?.disconnect();
      this.accept = null;
      this.foot.replaceChildren(this.outcome(late ? "expired" : state));
    }
  }

  /** Offer the choice; the same buttons stay while more becomes known, but what moved must be seen anew. */
  offer() {
    if (!this.accept) {
      this.foot.replaceChildren(...this.choice());
      return;
    }
    this.allowed(false);
    this.watch.unobserve(this.accept);
    this.watch.observe(this.accept);
  }

  choice() {
    this.accept = el("button", { type: "button", class: "primary", "aria-disabled": "true", text: t("accept") });
    this.decline = el("button", { type: "button", text: t("decline"), onclick: () => this.decide("decline") });
    this.accept.addEventListener("click", (event) => {
      if (event.isTrusted && this.accept.getAttribute("aria-disabled") !== "true") this.decide("accept");
    });
    this.hint = el("p", { class: "fine", text: t("notYet") });
    this.watchView();
    const until = el("p", { class: "fine", text: t("until", { when: moment(this.proposal.expires_at) }) });
    return [until, el("div", { class: "row" }, this.accept, this.decline), this.hint];
  }

  /** Let Accept work only where the whole of it is seen, with nothing of the host page over it. */
  watchView() {
    let seenSince = 0;
    const allow = (seen) => {
      clearTimeout(seenSince);
      if (!seen) this.allowed(false);
      else seenSince = setTimeout(() => this.allowed(true), SEEN_MS);
    };
    const threshold = [0, 0.5, 0.9, 0.99, 1]; // the last two: a fraction of a pixel may always be missing
    const options = WATCHES_COVER ? { threshold, trackVisibility: true, delay: 100 } : { threshold };
    this.watch = new IntersectionObserver((entries) => {
      const last = entries[entries.length - 1];
      allow(last.intersectionRatio >= 0.99 && (WATCHES_COVER ? last.isVisible : document.hasFocus()));
    }, options);
    this.watch.observe(this.accept);
    if (!WATCHES_COVER) {
      // Without that observer a focused frame, and a pointer or key that reaches it, stand for being seen.
      for (const kind of ["pointermove", "focusin"]) this.node.addEventListener(kind, () => allow(document.hasFocus()));
    }
  }

  allowed(may) {
    if (!this.accept) return;
    this.accept.setAttribute("aria-disabled", String(!may));
    this.hint.hidden = may;
  }

  outcome(state) {
    const mark = state === "executed" || state === "accepted" ? icon("check") : null;
    const note = this.proposal.note ? el("p", { class: "fine", dir: "auto", text: this.proposal.note }) : null;
    return el("div", {}, el("p", { class: `state ${state}`, tabindex: "-1" }, mark, el("span", { text: t(state) || state })), note);
  }

  async decide(verb) {
    this.watch.disconnect();
    this.allowed(false);
    this.decline.disabled = true;
    this.hint.hidden = false;
    this.hint.textContent = t("deciding");
    try {
      for (let look = 0; look < LOOKS; look += 1) {
        this.update(await this.api.post(`/v1/proposals/${this.proposal.id}/${verb}`, undefined, this.keys[verb]));
        if (!OPEN.has(this.proposal.state)) break;
        await new Promise((resolve) => setTimeout(resolve, 1500));
      }
      this.node.querySelector(".state")?.focus();
      this.onChange(t(this.proposal.state));
    } catch (error) {
      this.accept = null;
      this.draw();
      const message = error.status === 404 ? t("notYours") : error.message || t(error.status ? "wentWrong" : "noConnection");
      this.node.append(el("p", { class: "state failed", text: message }));
      this.onChange(message);
    }
  }
}

function steps(found) {
  if (!Array.isArray(found) || !found.length) return [];
  const list = el("dl", {});
  for (const { title, detail } of found) list.append(el("dt", { dir: "auto", text: title }), el("dd", { dir: "auto", text: detail }));
  return [el("h4", { text: t("proposalWhat") }), list];
}
