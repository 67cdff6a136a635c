/**
 * Uses of the page API that must compile, and uses that must not; checked by `tsc --strict`, never run.
 */

import { connect } from "../../web/langfx-web.js";
import type {
  ClosedInfo,
  LangfxError,
  Line,
  PageTool,
  QueryEvent,
  SessionEvent,
  StopReason,
  Trace,
  TurnEvent,
  TurnResult,
} from "../../web/langfx-web.js";

const showMap: PageTool<{ place: string }> = {
  description: "Shows a place.",
  inputSchema: { type: "object", properties: { place: { type: "string" } } },
  idempotent: true,
  timeout: 5,
  async execute(input, { signal, executionId, sessionId, rerun }) {
    signal.throwIfAborted();
    const place: string = input.place;
    return { place, executionId, again: rerun, bytes: new Uint8Array(), large: 1n, session: sessionId };
  },
};

export async function uses(signal: AbortSignal): Promise<void> {
  await using langfx = await connect({
    modules: ["./shop.py", new URL("https://example.test/more.py")],
    tools: { show_map: showMap, beep: { description: "", inputSchema: {}, execute: () => {} } },
    credentials: async ({ provider, sessionId, rejected, signal }) => {
      signal.throwIfAborted();
      return rejected ? `${provider}-${sessionId}` : { apiKey: "k", headers: { a: "b" }, expiresAt: new Date() };
    },
    store: { name: "shop" },
    provider: [{ text: "One moment.", toolCalls: [{ name: "get_order", input: { id: "7" } }], pace: 30 }, "Shipped."],
    resume: false,
    baseUrl: "/static/",
    signal,
    timeout: 30_000,
    onProgress: ({ phase, loaded, total }) => console.log(phase === "ready", loaded / total),
    onLog: ({ level, text }) => console[level](text),
    onEvent: ({ type }) => console.log(type),
    jspi: false,
    offline: { worker: "./sw.js", files: [new URL("https://shop.example/later.js")] },
  });
  const version: string = langfx.version;

  const session = langfx
    .agent("support")
    .session("chat", { model: "m", instructions: ["a", "b"], context: { user: 7 } });
  const id: string | null = session.id;
  const turn = session.prompt([{ type: "image", data: new Blob([]) }], { messageId: "m-1", signal });
  const { sessionId }: { sessionId: string } = await turn.accepted;
  for await (const event of turn) show(event);
  const result: TurnResult = await turn.result;
  const reason: StopReason = result.stopReason;
  const response = new Response(turn.readable);
  const outcome: "cancelled" | "none" = await session.cancel();
  for await (const line of session.stream(7)) showLine(line);
  const messages = await session.messages();
  for (const { role, parts } of messages) {
    for (const part of parts) {
      if (part.type === "text") part.text.concat(role);
      if (part.type === "image") part.mimeType?.startsWith("image/");
      if (part.type === "tool_call") part.args ?? part.rawArgs;
    }
  }
  for await (const event of session.watch()) {
    if (event.type === "events_dropped") event.count.toFixed();
    else trace(event, await langfx.call<Trace>("shop:trace"));
  }
  for (const gate of await session.gates()) {
    if (gate.schema.type === "boolean") await session.answer(gate.id, true);
    else await session.decline(gate.id, "not now");
  }
  // @ts-expect-error  an image has bytes, an address or a name, not a source
  session.prompt([{ type: "image", src: "cup.png" }]);

  const order = await langfx.call<{ total: number }>("shop:order", { id: "7" }, { signal });
  const total: number = order.total;
  for await (const item of langfx.stream<string>("shop:names")) item.toUpperCase();
  const seen = await langfx.call<Trace>("shop:trace");
  for await (const event of langfx.stream<SessionEvent>("shop:watch_order")) trace(event, seen);
  for await (const event of langfx.stream<QueryEvent<{ total: number }>>("shop:stream_order")) {
    if (event.type === "generation_complete") event.value.total.toFixed();
    fill(event);
  }
  await langfx.call("shop:upload", [new ArrayBuffer(1), new Date(), undefined, null]);
  const closed: ClosedInfo = await langfx.closed;
  if (closed.reason !== "closed") report(closed.error);
  await langfx.close({ handoff: true });
  console.log(version, id, sessionId, reason, response, outcome, messages, total);
}

/** An event is told apart by its type, and every type is known. */
function show(event: TurnEvent): string {
  switch (event.type) {
    case "text_delta":
    case "thought_delta":
      return event.delta;
    case "tool_start":
      return `${event.name} ${event.executionId} ${event.rerun}`;
    case "tool_end":
      return `${event.durationMs} ${event.isError ? event.errorCode : event.content}`;
    case "gate_open":
      return `${event.reason} ${event.payload.args} ${event.schema.type} ${event.callId} ${event.expiresAt}`;
    case "gate_closed":
      return `${event.id} ${event.outcome === "declined"}`;
    default:
      return event satisfies never;
  }
}

/** So is an event of a session, and a trace is a list of nodes. */
function trace(event: SessionEvent, { nodes }: Trace): string {
  switch (event.type) {
    case "action_start":
    case "action_end":
    case "query_start":
    case "query_end":
      // @ts-expect-error the node of an event is without what was asked
      event.node.request?.length;
      return `${event.at} ${event.node.id} ${event.node.error?.code} ${event.node.usage?.totalTokens}`;
    case "log_added":
      return `${event.entry.level} ${event.entry.message} ${"json" in event.entry.data.n ? event.entry.data.n.json : ""}`;
    case "progress_update":
      return `${event.nodeId} ${event.title} ${event.fraction?.toFixed(1)}`;
    case "metadata_update":
      return `${event.sessionId} ${nodes.map(({ id, request }) => `${id} ${request?.length}`)}`;
    default:
      return event satisfies never;
  }
}

/** So is an event of a streamed query. */
function fill(event: QueryEvent<{ total: number }>): string {
  switch (event.type) {
    case "text_delta":
    case "thought_delta":
      return event.delta;
    case "object_start":
      return `${event.kind} ${event.className?.toLowerCase()} ${event.path.length}`;
    case "field_start":
    case "object_end":
      return event.path.join(".");
    case "string_field_delta":
      return `${event.path.at(-1)} ${event.delta.trim()}`;
    case "field_end":
      return `${event.value} ${event.className}`;
    case "generation_complete":
      return `${event.value.total} ${event.usage?.totalTokens}`;
    case "parsing_failed":
      return `${event.error.code} ${event.message.parts}`;
    case "generation_failed":
      return `${event.error.code} ${event.error.details.limit} ${event.error.retryable}`;
    case "generation_cancelled":
      return event.reason;
    default:
      return event satisfies never;
  }
}

function showLine(line: Line): string {
  if (line.type === "lines_pruned") return String(line.through);
  if (line.type === "turn_end") return `${line.cursor} ${line.stopReason}`;
  return `${line.messageId} ${line.epoch}`;
}

function report(error: LangfxError): void {
  console.log(error.name, error.code, error.retryable, error.details.path);
}

export async function misuses(): Promise<void> {
  // @ts-expect-error An option that does not exist.
  await connect({ package: ["numpy"] });
  // @ts-expect-error Modules are a list.
  await connect({ modules: "./shop.py" });
  // @ts-expect-error No such store.
  await connect({ store: "disk" });
  // @ts-expect-error A misspelt field of a scripted answer.
  await connect({ provider: [{ txt: "Hi" }] });
  // @ts-expect-error A tool needs a function.
  await connect({ tools: { a: { description: "", inputSchema: {} } } });
  // @ts-expect-error A credential needs its key.
  await connect({ credentials: () => ({ headers: {} }) });

  const langfx = await connect();
  // @ts-expect-error Read only.
  langfx.version = "2";
  // @ts-expect-error A function cannot cross.
  await langfx.call("m:f", [() => {}]);
  // @ts-expect-error Arguments are an object or an array.
  await langfx.call("m:f", "x");
  for await (const event of langfx.stream<QueryEvent<number>>("m:g")) {
    // @ts-expect-error Only the last event has the value, and only a successful one.
    event.value.toFixed();
    // @ts-expect-error A path is not changed.
    if (event.type === "field_end") event.path.push("a");
  }
  // @ts-expect-error A stream is read, not awaited for its items.
  (await langfx.stream("m:g")).length;

  const session = langfx.agent("a").session();
  // @ts-expect-error The id may be null.
  session.id.length;
  // @ts-expect-error A prompt is text or parts.
  session.prompt(7);
  // @ts-expect-error Cursors are numbers.
  session.stream("1");

  const turn = session.prompt("Hi");
  for await (const event of turn) {
    // @ts-expect-error Not every event has a delta.
    event.delta.length;
    // @ts-expect-error Such lines are not shown here.
    if (event.type === "turn_end") return;
    // @ts-expect-error A misspelt type.
    if (event.type === "text-delta") return;
  }
  // @ts-expect-error A turn is not its result.
  turn.stopReason;
  // @ts-expect-error Not one of the reasons.
  if ((await turn.result).stopReason === "finished") return;
  const closed = await langfx.closed;
  // @ts-expect-error There is an error only if it did not end by close().
  closed.error.code;
}
