// What survives a reload, for one person in one tab. A browser that refuses storage loses it, and nothing else.

let owner = "";
const fallback = new Map();

/** Keep apart what belongs to different people: a tab may change hands. */
export function keepFor(person) {
  owner = person;
}

const named = (name) => `cogni:${owner}:${name}`;

export function kept(name) {
  try {
    return JSON.parse(sessionStorage.getItem(named(name)));
  } catch {
    return fallback.get(named(name)) ?? null;
  }
}

export function keep(name, value) {
  fallback.set(named(name), value);
  try {
    if (value === null || value === "") sessionStorage.removeItem(named(name));
    else sessionStorage.setItem(named(name), JSON.stringify(value));
  } catch {
    // refused, or full: this page goes on without
  }
}
