// @ts-check
/** The peer of the stream bench: `streamText` of Vercel's AI SDK in a module worker, one post per text delta. */

import { createAnthropic } from "@ai-sdk/anthropic";
import { streamText } from "ai";

self.onmessage = async ({ data: baseURL }) => {
  const anthropic = createAnthropic({ baseURL, apiKey: "none" });
  for await (const text of streamText({ model: anthropic("bench"), prompt: "Speak." }).textStream) {
    self.postMessage([text]);
  }
  self.postMessage(null);
};
