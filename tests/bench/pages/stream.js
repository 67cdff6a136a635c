// @ts-check
/** The contenders of the stream bench: each delivers every text of an answer to an iterator on the page. */

import { connect } from "/langfx-web.js";

/**
 * A contender in a fresh worker; `texts` are those of one answer.
 * @typedef {{texts(pace: string): AsyncIterable<string>, close(): void}} Contender
 */

/** By name, each for one wire. @type {Record<string, (wire: string) => Promise<Contender>>} */
const contenders = {
  async langfx(wire) {
    const langfx = await connectOurs();
    return {
      texts: (pace) => langfx.stream("bench_stream:texts", [wire, pace]),
      close: () => langfx.close(),
    };
  },
  async langfx_turn() {
    const langfx = await connectOurs();
    return {
      async *texts() {
        for await (const event of langfx.agent("bench").session().prompt("Speak.")) {
          if (event.type === "text_delta") yield event.delta;
        }
      },
      close: () => langfx.close(),
    };
  },
  js: (wire) => worker("/bench/stream_worker.js", (pace) => ({ wire, base: `${location.origin}/${pace}/v1` })),
  batching_js: (wire) =>
    worker("/bench/stream_worker.js", (pace) => ({ wire, base: `${location.origin}/${pace}/v1`, batched: true })),
  ai_sdk: () => worker("/peer.js", (pace) => `${location.origin}/${pace}/v1`),
};

function connectOurs() {
  return connect({ modules: ["/bench/bench_stream.py"], store: "memory", snapshot: false });
}

/** @param {string} url @param {(pace: string) => any} message starts an answer */
async function worker(url, message) {
  const worker = new Worker(url, { type: "module" });
  return {
    texts: (pace) => (worker.postMessage(message(pace)), received(worker)),
    close: () => worker.terminate(),
  };
}

/** What a worker posts, lists of texts and at last null, one by one. @param {Worker} worker */
async function* received(worker) {
  let waiting = [];
  let wake = () => {};
  worker.onmessage = ({ data }) => (waiting.push(data), wake());
  worker.onerror = ({ message }) => (waiting.push(new Error(message)), wake());
  for (;;) {
    const posts = waiting;
    waiting = [];
    for (const texts of posts) {
      if (texts instanceof Error) throw texts;
      if (texts === null) return;
      yield* texts;
    }
    if (!waiting.length) await new Promise((resolve) => (wake = () => resolve(undefined)));
  }
}

/** Milliseconds for one answer after another one that warms up, and what came. @param {string} name @param {string} wire */
export async function burst(name, wire) {
  const contender = await contenders[name](wire);
  try {
    await read(contender.texts("bursts"));
    const started = performance.now();
    const came = await read(contender.texts("bursts"));
    return { milliseconds: performance.now() - started, ...came };
  } finally {
    contender.close();
  }
}

/** Milliseconds from each text, which is the time when it was sent, to the iterator. @param {string} name */
export async function paced(name) {
  const contender = await contenders[name]("anthropic");
  try {
    const latencies = [];
    for await (const text of contender.texts("paced")) {
      latencies.push(performance.timeOrigin + performance.now() - Number(text));
    }
    return latencies;
  } finally {
    contender.close();
  }
}

/** @param {AsyncIterable<string>} texts */
async function read(texts) {
  let count = 0;
  let characters = 0;
  for await (const text of texts) {
    count++;
    characters += text.length;
  }
  return { count, characters };
}
