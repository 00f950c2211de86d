// Puts streams of events, one JSON array a line, through the official client's own checks; says how many hold and what is wrong.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";

const require = createRequire(`${process.argv[2]}/`);
const { enforceEvents, transformChunks, verifyEvents } = require("@ag-ui/client");
const { from, lastValueFrom, toArray } = require("rxjs");
const lines = (await text(process.stdin)).split("\n").filter(Boolean);
const wrong = [];
let stripped = 0;

console.warn = () => void (stripped += 1);
for (const [index, line] of lines.entries()) {
  const events = JSON.parse(line);
  try {
    const kept = await lastValueFrom(from(events).pipe(enforceEvents(), transformChunks(), verifyEvents(), toArray()));
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(kept)), events)) wrong.push([index, "changed on the way"]);
  } catch (error) {
    wrong.push([index, error.message]);
  }
}
process.stdout.write(JSON.stringify({ held: lines.length - wrong.length, stripped, wrong: wrong.slice(0, 5) }));
