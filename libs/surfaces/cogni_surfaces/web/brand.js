// A tenant's look. It colours and names; what discloses and confirms stays readable, whatever it says.

const COLOUR = /^#[0-9a-f]{6}$/i;
const LEAST = 4.5;

/** Apply brand tokens; one that is wrong, or that would be hard to read, is left out. */
export function applyBrand(brand) {
  if (typeof brand !== "object" || brand === null) return;
  const root = document.documentElement;
  const set = (name, value) => root.style.setProperty(name, value);
  const colour = (name) => (COLOUR.test(brand[name] ?? "") ? brand[name] : null);
  const accent = colour("colour_accent");
  if (accent) {
    const on = colour("colour_on_accent");
    set("--accent", accent);
    set("--on-accent", on && contrast(on, accent) >= LEAST ? on : contrast("#000000", accent) >= LEAST ? "#000" : "#fff");
  }
  const [ground, soft, ink] = ["colour_background", "colour_surface", "colour_text"].map(colour);
  if (ground && ink && contrast(ink, ground) >= LEAST && (!soft || contrast(ink, soft) >= LEAST)) {
    root.dataset.branded = contrast("#000000", ground) > contrast("#ffffff", ground) ? "light" : "dark";
    root.style.colorScheme = root.dataset.branded;
    set("--bg", ground);
    set("--ink", ink);
    set("--soft", soft ?? ground);
  }
  if (/^([0-9]|1[0-9]|2[0-4])px$/.test(brand.radius ?? "")) set("--radius", brand.radius);
  for (const name of ["density", "font", "icons"]) if (/^[a-z]{1,16}$/.test(brand[name] ?? "")) root.dataset[name] = brand[name];
}

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
