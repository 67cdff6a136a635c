// @ts-check
/** The peer of the loop bench: `streamText` of Vercel's AI SDK, which calls a tool in each step of its mock model. */

import { stepCountIs, streamText, tool } from "ai";
import { convertArrayToReadableStream, MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

const add = tool({
  description: "Add two numbers.",
  inputSchema: z.object({ a: z.int(), b: z.int() }),
  execute: async ({ a, b }) => a + b,
});

self.onmessage = async ({ data: steps }) => {
  let asked = 0;
  let last;
  const model = new MockLanguageModelV3({
    async doStream({ prompt }) {
      last = prompt.at(-1);
      return { stream: convertArrayToReadableStream(asked++ < steps ? call(asked - 1) : done()) };
    },
  });
  const started = performance.now();
  const result = streamText({ model, prompt: "Count.", tools: { add }, stopWhen: stepCountIs(steps + 1) });
  await result.consumeStream();
  const milliseconds = performance.now() - started;
  if ((await result.text) !== "Done." || last.content[0].output.value !== steps) {
    throw new Error("the run went another way");
  }
  self.postMessage(milliseconds);
};

function call(number) {
  const input = JSON.stringify({ a: number, b: 1 });
  return [{ type: "tool-call", toolCallId: `c${number}`, toolName: "add", input }, finish("tool-calls")];
}

function done() {
  const id = "t";
  return [
    { type: "text-start", id },
    { type: "text-delta", id, delta: "Done." },
    { type: "text-end", id },
    finish("stop"),
  ];
}

function finish(unified) {
  return { type: "finish", finishReason: { unified, raw: unified }, usage: { inputTokens: {}, outputTokens: {} } };
}
