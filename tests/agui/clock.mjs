// A client judges by its own clock whether an interrupt has expired: here that is the product's, given as NOW.
const { NOW } = process.env;
globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length ? given : [NOW]));
  }
};
