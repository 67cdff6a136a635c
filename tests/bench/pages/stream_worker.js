// @ts-check
/** The peer written by hand: fetch, reader, split, `JSON.parse`; a post per text, or per network chunk. */

self.onmessage = async ({ data: { url, batched } }) => {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const events = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = events.pop() ?? "";
    const texts = events.map(textOf).filter((text) => text !== undefined);
    if (batched) self.postMessage(texts);
    else for (const text of texts) self.postMessage([text]);
  }
  self.postMessage(null);
};

/** @param {string} event @returns {string | undefined} */
function textOf(event) {
  const { type, delta } = JSON.parse(event.slice(event.indexOf("data: ") + 6));
  return type === "content_block_delta" && delta.type === "text_delta" ? delta.text : undefined;
}
