// @ts-check
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { openExchange } from "../../worker/pump.js";
import { settled, unhandledDuring } from "./fakes.js";

/** @typedef {import("node:http").ServerResponse} Response */

/** @typedef {import("node:http").IncomingMessage} Request */

/** What the server does with a request. @type {(response: Response, request: Request, body: Buffer) => void} */
let behave;
/** @type {import("node:http").Server} */
let server;
let url = "";

before(async () => {
  server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    behave(response, request, Buffer.concat(chunks));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}/v1`;
});

after(() => {
  server.closeAllConnections();
  server.close();
});

/** @param {object} [more] @param {Uint8Array} [body] */
function open(more, body) {
  return openExchange(JSON.stringify({ method: "GET", url, headers: {}, ...more }), body);
}

/** Starts an exchange and hands out the server's side of it. */
async function openHeld() {
  /** @type {Promise<Response>} */
  const response = new Promise((resolve) => (behave = resolve));
  const exchange = open();
  const held = await response;
  const closed = new Promise((resolve) => held.on("close", () => resolve("closed")));
  return { exchange, response: held, closed };
}

/** @param {Uint8Array} bytes */
const text = (bytes) => new TextDecoder().decode(bytes);

/** @param {ReturnType<typeof open>} exchange */
async function readAll(exchange) {
  const parts = [];
  for (let part = await exchange.next(); part.length; part = await exchange.next()) parts.push(part);
  return parts;
}

test("head gives status, headers as pairs and the url; next gives the body, then an empty array", async () => {
  behave = (response, request) => {
    response.writeHead(201, { "content-type": "text/plain", "x-id": "7" });
    response.end(`${request.method} ${request.headers["x-sent"]}`);
  };
  const exchange = open({ headers: { "x-sent": "yes" } });
  const head = JSON.parse(await exchange.head());
  assert.equal(head.status, 201);
  assert.equal(head.url, url);
  assert.deepEqual(
    head.headers.filter(
      (/** @type {string[]} */ [name]) =>
        name !== "date" && name !== "connection" && name !== "keep-alive" && name !== "transfer-encoding",
    ),
    [
      ["content-type", "text/plain"],
      ["x-id", "7"],
    ],
  );
  assert.equal((await readAll(exchange)).map(text).join(""), "GET yes");
  assert.equal((await exchange.next()).length, 0);
  exchange.close();
});

test("a body of bytes is sent as it is", async () => {
  behave = (response, _, body) => response.end(body);
  const sent = new Uint8Array([0, 255, 1]);
  const exchange = open({ method: "POST" }, sent);
  assert.deepEqual(
    (await readAll(exchange)).map((part) => [...part]),
    [[0, 255, 1]],
  );
});

test("an error status is an answer like any other", async () => {
  behave = (response) => response.writeHead(529).end("overloaded");
  const exchange = open();
  assert.equal(JSON.parse(await exchange.head()).status, 529);
  assert.equal(text(await exchange.next()), "overloaded");
});

test("each chunk is handed on as soon as it is there", async () => {
  const { exchange, response } = await openHeld();
  response.flushHeaders();
  await exchange.head();
  for (const part of ["one", "two", "three"]) {
    const next = exchange.next();
    response.write(part);
    assert.equal(text(await next), part);
  }
  const end = exchange.next();
  response.end();
  assert.equal((await end).length, 0);
});

test("what arrived in the meantime comes in one piece, in order", async () => {
  behave = (response) => {
    for (let line = 0; line < 1000; line++) response.write(`data: ${line}\n\n`);
    response.end();
  };
  const exchange = open();
  const parts = await readAll(exchange);
  assert.equal(parts.map(text).join(""), Array.from({ length: 1000 }, (_, line) => `data: ${line}\n\n`).join(""));
  assert.ok(parts.length < 1000);
});

test("reading ahead stops at a quarter of a megabyte and goes on losslessly", async () => {
  const size = 8 * 2 ** 20;
  behave = (response) => response.end(Buffer.alloc(size, "x"));
  const exchange = open();
  await exchange.head();
  // Time to go wrong in: a reader without a limit has megabytes by then.
  await new Promise((resolve) => setTimeout(resolve, 200));
  const first = await exchange.next();
  assert.ok(first.length <= 512 * 1024, `${first.length} bytes were waiting`);
  const rest = await readAll(exchange);
  assert.equal(
    rest.reduce((sum, { length }) => sum + length, first.length),
    size,
  );
});

test("closed while the server has not answered: the server sees it, head and next reject at once", async () => {
  const { exchange, closed } = await openHeld();
  const head = assert.rejects(exchange.head(), { name: "AbortError" });
  const next = assert.rejects(exchange.next(), { name: "AbortError" });
  exchange.close();
  await Promise.all([head, next]);
  assert.equal(await closed, "closed");
});

test("closed between chunks: the server sees it, the waiting next rejects at once", async () => {
  const { exchange, response, closed } = await openHeld();
  response.write("one");
  assert.equal(text(await exchange.next()), "one");
  const next = assert.rejects(exchange.next(), { name: "AbortError" });
  exchange.close();
  exchange.close();
  await next;
  await assert.rejects(exchange.next(), { name: "AbortError" });
  assert.equal(await closed, "closed");
});

test("closed while the consumer is busy and bytes wait: the server sees it", async () => {
  const { exchange, response, closed } = await openHeld();
  response.write("unread");
  await exchange.head();
  exchange.close();
  assert.equal(await closed, "closed");
  await assert.rejects(exchange.next(), { name: "AbortError" });
});

test("closed while reading is paused at the limit: the server sees it", async () => {
  const { exchange, response, closed } = await openHeld();
  response.write(Buffer.alloc(16 * 2 ** 20));
  await exchange.next();
  exchange.close();
  assert.equal(await closed, "closed");
});

test("a body that breaks gives its bytes first, then rejects, again and again", async () => {
  const { exchange, response } = await openHeld();
  response.writeHead(200, { "content-length": "100" });
  response.write("half");
  assert.equal(text(await exchange.next()), "half");
  response.destroy();
  await assert.rejects(exchange.next(), TypeError);
  await assert.rejects(exchange.next(), TypeError);
  exchange.close();
});

test("no server: head and next reject with the error of fetch", async () => {
  const exchange = open({ url: "http://127.0.0.1:1/" });
  await assert.rejects(exchange.head(), TypeError);
  await assert.rejects(exchange.next(), TypeError);
});

test("a redirect is an error, so that a key is not sent elsewhere", async () => {
  behave = (response) => response.writeHead(307, { location: "/elsewhere" }).end();
  await assert.rejects(open().head(), TypeError);
});

test("an exchange that nobody awaits leaves no unhandled rejection, whenever it is closed", async () => {
  const unhandled = await unhandledDuring(async () => {
    open({ url: "http://127.0.0.1:1/" });
    open({ url: "http://127.0.0.1:1/" }).close();
    const { exchange, closed } = await openHeld();
    exchange.head();
    exchange.next();
    exchange.close();
    await closed;
    const broken = await openHeld();
    broken.response.write("x");
    await broken.exchange.head();
    broken.response.destroy();
    await settled();
  });
  assert.deepEqual(unhandled, []);
});

test("no body: the first next is the end", async () => {
  behave = (response) => response.writeHead(204).end();
  const exchange = open();
  assert.equal(JSON.parse(await exchange.head()).status, 204);
  assert.equal((await exchange.next()).length, 0);
});
