// @ts-check
/** The peer written by hand: fetch, reader, split, `JSON.parse`; a post per text, or per network chunk. */

/**
 * Of each wire: where it is asked, what ends an event, and the text of one.
 * @type {Record<string, {path: string, end: string, textOf(event: any): string | undefined}>}
 */
const wires = {
  anthropic: {
    path: "/messages",
    end: "\n\n",
    textOf: ({ type, delta }) =>
      type === "content_block_delta" && delta.type === "text_delta" ? delta.text : undefined,
  },
  openai: {
    path: "/responses",
    end: "\n\n",
    textOf: ({ type, delta }) => (type === "response.output_text.delta" ? delta : undefined),
  },
  chat: {
    path: "/chat/completions",
    end: "\n\n",
    textOf: ({ choices }) => choices[0]?.delta.content || undefined,
  },
  gemini: {
    path: "/models/bench:streamGenerateContent?alt=sse",
    end: "\r\n\r\n",
    textOf: ({ candidates }) => candidates[0].content?.parts[0].text,
  },
};

self.onmessage = async ({ data: { wire, base, batched } }) => {
  const { path, end, textOf } = wires[wire];
  const options = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
  const response = await fetch(base + path, options);
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const events = (rest + decoder.decode(value, { stream: true })).split(end);
    rest = events.pop() ?? "";
    const texts = events.map(dataOf).filter((data) => data !== "[DONE]").map((data) => textOf(JSON.parse(data)));
    const shown = texts.filter((text) => text !== undefined);
    if (batched) self.postMessage(shown);
    else for (const text of shown) self.postMessage([text]);
  }
  self.postMessage(null);
};

/** @param {string} event */
function dataOf(event) {
  return event.slice(event.indexOf("data: ") + 6);
}
