// Drives a product by the official AG-UI client: a scenario comes in, what the client made of it goes out.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";

const { HttpAgent, buildResumeArray } = createRequire(`${process.argv[2]}/`)("@ag-ui/client");
const { url, headers, steps } = JSON.parse(await text(process.stdin));
const agent = new HttpAgent({ url, headers, threadId: "" });
const told = [];

console.error = () => {}; // the client prints what it also reports
for (const { message, answers, runId, ...parameters } of steps) {
  const seen = { events: [], ended: null, failed: null };
  if (message) agent.addMessage({ id: crypto.randomUUID(), role: "user", content: message });
  const resume = answers && buildResumeArray(agent.pendingInterrupts, Object.fromEntries(agent.pendingInterrupts.map((i) => [i.id, answers])));
  const before = agent.messages.length;
  try {
    await agent.runAgent({ runId, ...parameters, ...(resume ? { resume } : {}) }, {
      onEvent: ({ event }) => void seen.events.push(event),
      onCustomEvent: ({ event }) => {
        if (event.name === "cogni.run") agent.threadId = event.value.conversation_id;
      },
      onRunFinishedEvent: ({ outcome, interrupts, result, pendingToolCallIds }) => {
        seen.ended = { outcome, interrupts, result, pendingToolCallIds };
      },
      onRunErrorEvent: ({ event }) => void (seen.ended = { outcome: "error", message: event.message, code: event.code }),
      onRunFailed: ({ error }) => void (seen.failed = { message: error.message, status: error.status ?? null }),
    });
  } catch (error) {
    seen.failed ??= { message: error.message, status: error.status ?? null };
  }
  told.push({ ...seen, messages: agent.messages.slice(before), waiting: agent.pendingInterrupts.length });
}
process.stdout.write(JSON.stringify(told));
