// What the assistant can see beside the conversation: a chip each, and what has a chip goes along, nothing else does.

import { el, iconButton } from "./dom.js";
import { t } from "./texts.js";

const WAIT_MS = 3000;

export class VisibleContext {
  /** `removed()` is told when the person takes something away. */
  constructor(api, surfaceId, chips, removed) {
    Object.assign(this, { api, surfaceId, chips, removed, items: [], asked: 0, looking: Promise.resolve() });
  }

  /** The address that tells what this person may see of a reference, or of none. */
  address(wanted) {
    const subject = wanted ? { subject_kind: wanted.kind, subject_id: wanted.id } : {};
    return `/v1/surface?${new URLSearchParams({ surface_id: this.surfaceId, ...subject })}`;
  }

  /** Begin with what the host page mounted this surface with, as it gave it; the server takes it or refuses it. */
  begin(given) {
    return this.found(this.api.post("/v1/surface", { surface_id: this.surfaceId, ...given }));
  }

  /** Look a reference up and return what was found. */
  look(wanted) {
    return this.found(this.api.get(this.address(wanted)));
  }

  /** The newest one counts, whichever answer comes first. */
  async found(found) {
    const mine = (this.asked += 1);
    this.show({ items: [] });
    this.looking = found.catch(() => {});
    const surface = await found;
    if (mine === this.asked) this.show(surface.context);
    return surface;
  }

  /** Wait until it is known what goes along, within reason. */
  settled() {
    return Promise.race([this.looking, new Promise((resolve) => setTimeout(resolve, WAIT_MS))]);
  }

  /** What goes with the next question. */
  forQuestion() {
    const [subject] = this.items;
    return subject ? { subject_ref: { kind: subject.kind, id: subject.id } } : {};
  }

  show({ items, removable = true }) {
    for (const chip of this.chips.querySelectorAll("[data-subject]")) chip.remove();
    this.items = items;
    this.chips.prepend(...items.map((item) => this.chip(item, removable)));
  }

  chip(item, removable) {
    const title = item.title || item.id;
    const drop = () => {
      this.items = this.items.filter((other) => other !== item);
      made.remove();
      this.removed();
    };
    const text = el("bdi", { text: t("about", { title }) });
    const made = el("li", { "data-subject": "" }, text, removable ? iconButton("close", t("removeContext", { title }), drop) : null);
    return made;
  }
}
