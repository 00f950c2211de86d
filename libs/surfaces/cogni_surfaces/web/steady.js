// Changing a text that somebody reads: the words before their eyes stay where they are.

const words = (block) => block.textContent.replace(/[^\p{L}\p{N}]+/gu, "").slice(0, 32);

/** Change an answer; the block at the top of the view, or the one that says the same then, stays in its place. */
export function steady(answer, change) {
  const log = answer.closest("#log");
  if (!log) return change();
  const from = log.getBoundingClientRect().top;
  const distance = (block) => block.getBoundingClientRect().top - from;
  const before = [...answer.children];
  const at = before.findIndex((block) => block.getBoundingClientRect().bottom > from);
  if (at < 0 || distance(before[at]) > log.clientHeight) return change();
  const [read, there] = [words(before[at]), distance(before[at])];
  change();
  const after = [...answer.children];
  const same = after.find((block) => words(block) === read) ?? after[at];
  if (same) log.scrollTop += distance(same) - there;
}
