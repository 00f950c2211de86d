// The host page's half: a frame, a launcher, and messages between the two. It holds no answer and decides nothing.
(() => {
  "use strict";

  const OWN = new URL(document.currentScript.src).origin;
  const REQUIRED = ["surface_id", "principal_token", "key_id"];
  const OPTIONAL = ["subject_ref", "brand", "placement", "locale"];
  const WHY = new Map(
    [
      ["grants grant permissions roles role", "what a person may call is decided by the product, from the directory, at every request"],
      ["scope scopes readers groups corpora filter", "what a person may read is decided by the product, from the directory, at every request"],
      ["tools tool effects", "which tools are offered follows from the person's grants"],
      ["principal user user_id person tenant tenant_id on_behalf_of", "who asks is proven by principal_token, which your server signs"],
      ["body record content text html data subject context", "a record is named by subject_ref {kind, id}; its content is looked up under the person's own rights"],
      ["instructions prompt system model", "an administrator sets up the assistant"],
    ].flatMap(([names, why]) => names.split(" ").map((name) => [name, why])),
  );
  const TEXTS = { en: ["Open the assistant", "Assistant"], de: ["Assistenten öffnen", "Assistent"] };
  const NAMES = /^[A-Za-z0-9._-]{1,64}$/;
  const KIND = /^[A-Za-z0-9._:-]{1,128}$/;
  const ID = /^[^\x00-\x1f\x7f]{1,256}$/u;
  const LOCALE = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}$/;
  const MAX_TOKEN = 16384;
  const COLOUR = /^#[0-9a-f]{6}$/i;
  const BRAND = {
    ...Object.fromEntries(["accent", "on_accent", "background", "surface", "text"].map((name) => [`colour_${name}`, COLOUR])),
    radius: /^([0-9]|1[0-9]|2[0-4])px$/,
    font: /^(system|serif|mono|rounded)$/,
    density: /^(comfortable|compact)$/,
    icons: /^(line|filled|none)$/,
    placement: /^(left|right)$/,
    name: /^[^\x00-\x1f\x7f-\x9f<>&\u200b-\u200f\u2028-\u202e\u2060-\u206f]{1,40}$/u,
  };
  const PAIRS = [["colour_text", "colour_background"], ["colour_text", "colour_surface"], ["colour_on_accent", "colour_accent"]];

  const wrong = (text) => {
    throw new TypeError(`CogniBuild.mount: ${text}`);
  };

  function checked(config) {
    if (typeof config !== "object" || config === null || Array.isArray(config)) wrong("the config is an object with named values");
    for (const key of Reflect.ownKeys(config)) {
      if ([...REQUIRED, ...OPTIONAL].includes(key)) continue;
      const why = WHY.get(String(key).replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase());
      wrong(why ? `${String(key)} is not accepted: ${why}` : `there is no ${String(key)}; a config has ${[...REQUIRED, ...OPTIONAL].join(", ")}`);
    }
    const { surface_id, key_id, principal_token: token, placement = "docked", locale, brand } = config;
    if (!NAMES.test(surface_id ?? "") || typeof surface_id !== "string") wrong("surface_id names a surface, like \"chat\"");
    if (!NAMES.test(key_id ?? "") || typeof key_id !== "string") wrong("key_id is the public id of the key that your tokens are signed with");
    if (typeof token !== "function" && (typeof token !== "string" || !token.trim() || token.length > MAX_TOKEN)) wrong("principal_token is a token that your server signed, or a function that gives one");
    if (!["docked", "launcher"].includes(placement)) wrong("placement is docked or launcher");
    if (given(locale) && (typeof locale !== "string" || !LOCALE.test(locale))) wrong("locale is a language tag like de or en-GB");
    return { surface_id, key_id, token, placement, locale: locale ?? undefined, brand: branded(brand), subject_ref: reference(config.subject_ref) };
  }

  const given = (value) => value !== undefined && value !== null;

  function branded(brand) {
    if (!given(brand)) return undefined;
    if (!Object.is(Object.getPrototypeOf(brand), Object.prototype)) wrong("brand is an object of brand tokens, like {name: \"Helper\", radius: \"8px\"}");
    for (const [name, value] of Object.entries(brand)) {
      if (!Object.hasOwn(BRAND, name)) wrong(`there is no brand token ${name}; there are ${Object.keys(BRAND).join(", ")}`);
      if (typeof value !== "string" || !BRAND[name].test(value)) wrong(`the brand token ${name} has no such value`);
    }
    for (const [text, ground] of PAIRS) {
      const ratio = text in brand && ground in brand ? contrast(brand[text], brand[ground]) : 21;
      if (ratio < 4.5) wrong(`${text} on ${ground} has a contrast of ${ratio.toFixed(1)}; 4.5 is the least`);
    }
    return { ...brand };
  }

  function reference(ref) {
    if (!given(ref)) return null;
    if (typeof ref !== "object") wrong("subject_ref is {kind, id}: a reference, never a record");
    const more = Reflect.ownKeys(ref).filter((key) => key !== "kind" && key !== "id");
    if (more.length) wrong(`subject_ref has kind and id alone, not ${String(more[0])}: ${WHY.get("record")}`);
    const { kind, id } = ref;
    if (typeof kind !== "string" || typeof id !== "string" || !KIND.test(kind) || !ID.test(id)) wrong("subject_ref is {kind, id}, two short names");
    return { kind, id };
  }

  function mount(target, config) {
    const place = typeof target === "string" ? document.querySelector(target) : target;
    if (!(place instanceof Element)) wrong("the target is an element of this page, or a selector of one");
    return new Mount(place, checked(config)).handle();
  }

  class Mount {
    constructor(place, config) {
      this.config = config;
      this.listeners = new Map();
      this.isOpen = config.placement === "docked";
      this.isReady = false;
      this.holder = place.appendChild(document.createElement("div"));
      this.root = this.holder.attachShadow({ mode: "closed" });
      this.frame = this.makeFrame();
      this.heard = (event) => this.hear(event);
      addEventListener("message", this.heard);
      if (config.placement === "launcher") this.addLauncher();
      else this.dock();
    }

    handle() {
      return {
        open: () => this.show(true),
        close: () => this.show(false),
        set_context: (subject) => this.send("cogni:context", { subject_ref: (this.config.subject_ref = reference(subject)) }),
        on: (name, listener) => this.on(name, listener),
        unmount: () => this.unmount(),
      };
    }

    makeFrame() {
      const { key_id, surface_id, placement, brand, locale } = this.config;
      const frame = document.createElement("iframe");
      const query = new URLSearchParams({ surface_id, placement });
      this.address = `${OWN}/surface/${encodeURIComponent(key_id)}?${query}#host=${encodeURIComponent(location.origin)}`;
      frame.title = brand?.name || this.texts(locale)[1];
      frame.allow = "clipboard-write";
      frame.referrerPolicy = "no-referrer";
      return frame;
    }

    texts = (locale) => TEXTS[String(locale || document.documentElement.lang || "en").slice(0, 2)] ?? TEXTS.en;

    dock() {
      styled(this.holder, { display: "block", width: "100%", height: "100%", minHeight: "320px" });
      styled(this.frame, { display: "block", width: "100%", height: "100%", minHeight: "inherit", border: "0" });
      this.load();
      this.root.append(this.frame);
    }

    /** Load the frame, once; a token is asked for when it has come, so that a page whose visitor never opens it asks for none. */
    load() {
      if (!this.frame.src) this.frame.src = this.address;
    }

    addLauncher() {
      const side = this.config.brand?.placement === "left" ? "left" : "right";
      const button = (this.launcher = document.createElement("button"));
      button.type = "button";
      button.title = this.texts(this.config.locale)[0];
      button.setAttribute("aria-label", button.title);
      button.setAttribute("aria-expanded", "false");
      button.append(bubble());
      const accent = this.config.brand?.colour_accent ?? "#1f4fd8";
      styled(button, { position: "fixed", bottom: "20px", [side]: "20px", width: "56px", height: "56px", padding: "0", borderRadius: "50%", border: "2px solid #fff", background: accent, color: readable(accent), cursor: "pointer", boxShadow: "0 4px 16px rgb(0 0 0 / .3)", zIndex: "2147483000" });
      button.addEventListener("click", () => this.show(true));
      styled(this.frame, { position: "fixed", zIndex: "2147483001", border: "0", background: "Canvas", [side]: "0", bottom: "0" });
      this.side = side;
      this.resized = () => this.fit();
      addEventListener("resize", this.resized);
      this.fit();
      this.frame.hidden = true;
      this.frame.style.display = "none";
      this.root.append(button, this.frame);
    }

    /** A small window takes the whole of it; a larger one a panel in its corner. */
    fit() {
      const small = innerWidth < 520 || innerHeight < 480;
      const edge = small ? "0" : "20px";
      styled(this.frame, { width: small ? "100%" : "420px", height: small ? "100%" : "min(680px, calc(100% - 40px))", [this.side]: edge, bottom: edge, borderRadius: small ? "0" : "14px", boxShadow: small ? "none" : "0 8px 40px rgb(0 0 0 / .35)" });
    }

    show(open) {
      if (open && document.activeElement !== this.holder) this.before = document.activeElement;
      if (open !== this.isOpen) {
        if (open) this.load();
        this.frame.hidden = !open;
        this.frame.style.display = open ? "block" : "none";
        if (this.launcher) this.launcher.style.display = open ? "none" : "block";
        this.launcher?.setAttribute("aria-expanded", String(open));
      }
      const changed = open !== this.isOpen;
      this.isOpen = open;
      if (open) {
        this.frame.focus();
        this.send("cogni:open");
      } else if (changed) {
        this.send("cogni:close");
        const back = this.before && this.before !== document.body && this.before !== this.holder && this.before.isConnected ? this.before : this.launcher;
        back?.focus();
      }
      if (changed) this.tell("open-state", { open });
    }

    on(name, listener) {
      if (typeof listener !== "function") wrong("on takes the name of an event and a function");
      const all = this.listeners.get(name) ?? new Set();
      this.listeners.set(name, all.add(listener));
      return () => all.delete(listener);
    }

    /** Tell the host's listeners; what they throw is theirs. */
    tell(name, detail) {
      for (const listener of this.listeners.get(name) ?? []) {
        try {
          listener(detail);
        } catch (error) {
          setTimeout(() => {
            throw error;
          });
        }
      }
    }

    hear(event) {
      if (event.source !== this.frame.contentWindow || event.origin !== OWN) return;
      const { type, ...more } = event.data ?? {};
      if (type === "cogni:ready") this.init();
      else if (type === "cogni:token-needed") this.token().then((token) => this.send("cogni:token", { token }));
      else if (type === "cogni:open-state") this.show(more.open === true);
      else if (type === "cogni:event") this.tell(String(more.name), {});
    }

    async init() {
      const token = await this.token();
      const { subject_ref, brand, placement, locale } = this.config;
      this.isReady = true;
      this.send("cogni:init", { token, subject_ref, brand, placement, locale: locale || pageLanguage() });
      if (this.isOpen && placement === "launcher") this.send("cogni:open");
      this.tell("ready", {});
    }

    async token() {
      try {
        const given = typeof this.config.token === "function" ? await this.config.token() : this.config.token;
        return typeof given === "string" ? given.trim() : null;
      } catch {
        this.tell("token-failed", {});
        return null;
      }
    }

    send(type, more = {}) {
      if (this.isReady) this.frame.contentWindow?.postMessage({ type, ...more }, OWN);
    }

    unmount() {
      removeEventListener("message", this.heard);
      if (this.resized) removeEventListener("resize", this.resized);
      this.holder.remove();
    }
  }

  const pageLanguage = () => (LOCALE.test(document.documentElement.lang) ? document.documentElement.lang : undefined);

  const styled = (node, style) => Object.assign(node.style, style);

  /** Black or white, whichever is easier to read on a colour. */
  const readable = (colour) => (contrast("#000000", colour) >= contrast("#ffffff", colour) ? "#000" : "#fff");

  /** Return the contrast of two colours, 1 to 21, as WCAG 2 defines it. */
  function contrast(one, other) {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  }

  function luminance(colour) {
    const [r, g, b] = [1, 3, 5].map((at) => {
      const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function bubble() {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    const path = document.createElementNS(space, "path");
    for (const [name, value] of Object.entries({ viewBox: "0 0 24 24", width: "28", height: "28", fill: "none", stroke: "currentColor", "stroke-width": "1.8", "stroke-linejoin": "round", "aria-hidden": "true" })) svg.setAttribute(name, value);
    path.setAttribute("d", "M4 5h16v11H10l-4.500 4v-4H4z");
    svg.append(path);
    return svg;
  }

  Object.defineProperty(window, "CogniBuild", { value: Object.freeze({ mount }), configurable: true });
})();
