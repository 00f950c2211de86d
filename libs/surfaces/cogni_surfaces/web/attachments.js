// Documents that a person adds: their own, for this conversation alone; one can begin it.

import { el, iconButton } from "./dom.js";
import { t } from "./texts.js";

const MOST_BYTES = 20 * 2 ** 20;

export class Attachments {
  /** `conversation()` is the one on the screen, null for none; `begun(id)` is told of the one that a file began. */
  constructor(api, surfaceId, chips, { conversation, begun, say }) {
    Object.assign(this, { api, surfaceId, chips, conversation, begun, say, adding: Promise.resolve() });
  }

  /** Add files one after the other: the first may begin the conversation that the others go to. */
  add(files) {
    this.adding = this.adding.then(async () => {
      for (const file of files) {
        if (file.size > MOST_BYTES) this.failed(file.name, t("tooLarge"));
        else await this.send(file);
      }
    });
    return this.adding;
  }

  async send(file) {
    const name = { name: file.name };
    const reading = t("reading", { title: file.name });
    const waiting = this.chips.appendChild(el("li", {}, el("bdi", { text: reading })));
    const to = this.conversation();
    const address = to ? `${files(to)}?${new URLSearchParams(name)}` : `/v1/attachments?${new URLSearchParams({ ...name, surface_id: this.surfaceId })}`;
    this.say(reading, true);
    try {
      const raw = new Blob([file], { type: "application/octet-stream" });
      const added = await this.api.json("POST", address, { body: raw });
      if (this.conversation() !== to) return waiting.remove(); // another conversation is on the screen by now
      if (!to) this.begun(added.conversation_id);
      waiting.replaceWith(this.chip(added, added.conversation_id));
      this.say(added.unread.length ? t("notRead", { names: added.unread.join(", ") }) : "");
    } catch (error) {
      waiting.remove();
      this.failed(file.name, error.message || t("attachFailed"));
    }
  }

  /** Show what a conversation holds, in place of what was shown. */
  async show(conversation) {
    this.clear();
    if (!conversation) return;
    try {
      const { attachments } = await this.api.get(files(conversation));
      if (conversation === this.conversation()) this.chips.append(...attachments.map((held) => this.chip(held, conversation)));
    } catch (error) {
      this.say(error.message || t("offline"));
    }
  }

  chip({ document_id: id, name }, conversation) {
    const remove = async () => {
      try {
        await this.api.json("DELETE", `${files(conversation)}/${id}`);
        made.remove();
      } catch (error) {
        this.say(error.message || t("wentWrong"));
      }
    };
    const made = el("li", { "data-document": id }, el("bdi", { text: name }), iconButton("close", t("remove", { title: name }), remove));
    return made;
  }

  failed(name, why) {
    const made = el("li", { class: "bad" }, el("span", {}, el("bdi", { text: name }), `: ${why}`), iconButton("close", t("remove", { title: name }), () => made.remove()));
    this.chips.append(made);
    this.say(`${name}: ${why}`, false, true);
  }

  clear() {
    for (const chip of this.chips.querySelectorAll("[data-document], .bad")) chip.remove();
  }
}

const files = (conversation) => `/v1/conversations/${conversation}/attachments`;
