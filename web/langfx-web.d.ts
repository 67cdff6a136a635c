/// <reference lib="esnext.disposable" />
/**
 * langfx_web on the page.
 *
 * @example
 * const langfx = await connect({ modules: ["./support_agent.py"], store: "memory" });
 * const turn = langfx.agent("support").session().prompt("Where is order 7?");
 * for await (const event of turn) if (event.type === "text_delta") show(event.delta);
 * const { stopReason } = await turn.result;
 * await langfx.close();
 */

/**
 * Starts a worker with Python in it and resolves once it is ready. Each call has a worker of its own.
 *
 * Rejects with a `LangfxError` (`invalid_argument`, `unsupported_browser`, `boot_blocked`, `download_failed`,
 * `integrity_failed`, `boot_failed`, `boot_timeout`, `bridge_version`, `package_failed`, `module_failed`, `store_unavailable`),
 * or with `signal.reason` if the signal aborted.
 */
export function connect(options?: ConnectOptions): Promise<Langfx>;

export interface ConnectOptions {
  /** Python files that define agents and functions; URLs relative to the page, imported in this order. */
  modules?: readonly (string | URL)[];
  /**
   * Packages that the modules import, as `"name"` or `"name>=1.2"`: those of the bundle, then those of Pyodide's release,
   * then those of PyPI that are pure Python or built for Pyodide. What a module imports of the bundle needs no mention.
   */
  packages?: readonly string[];
  /** Wheels by URL, relative to the page, with all that they need; `#sha256=…` at the end is checked. */
  wheels?: readonly (string | URL)[];
  /** Tools that run on the page, by name. */
  tools?: Record<string, PageTool>;
  /** Gives the key of a provider when a model needs it; it has 30 seconds. */
  credentials?: CredentialsCallback;
  /** Where conversations live. Default `"indexeddb"`; `{ name }` tells several stores of one origin apart. */
  store?: "memory" | "indexeddb" | { name: string };
  /**
   * For tests and offline demos: what the model answers, one entry per request, in place of every agent's own model;
   * or a list per agent name. Past its end a request fails with `fake_exhausted`.
   */
  provider?: readonly ScriptedAnswer[] | Record<string, readonly ScriptedAnswer[]>;
  /** Go on with turns that a dead tab or worker left open. Default true. */
  resume?: boolean;
  /** The folder that holds `langfx-web.js` and its runtime folder, if they were not loaded from there. */
  baseUrl?: string | URL;
  /** Aborts the start. */
  signal?: AbortSignal;
  /** Milliseconds for the whole start. Default: no limit, but a minute without a sign of life ends it. */
  timeout?: number;
  onProgress?(progress: Progress): void;
  /** Python's output and warnings. Default: the console. */
  onLog?(entry: LogEntry): void;
  /** Diagnostics: things that went wrong without failing a call. */
  onEvent?(diagnostic: Diagnostic): void;
  /** Whether Python may wait synchronously for promises where the browser can do that. Default true. */
  jspi?: boolean;
  /**
   * Whether starts are restored from a snapshot of Python's memory: made once, five quiet seconds after a start, kept in
   * the Cache API. Default true.
   */
  snapshot?: boolean;
  /**
   * Lets the page start without a network from its next visit on: once Python is ready, registers the service worker
   * `langfx-web-sw.js` and keeps the bundle, this page, the files of its origin that it has loaded, and its modules.
   * Where that cannot be, above all where the page has a service worker of its own, nothing is changed and `onLog`
   * gets a warning. Default false.
   */
  offline?: boolean | Offline;
}

export interface Offline {
  /** A service worker of yours that imports ours, for a page that does not lie in the folder of `langfx-web-sw.js`. */
  worker?: string | URL;
  /** Further files to keep, which the page loads later. */
  files?: readonly (string | URL)[];
}

/** One answer of a scripted model: a text, or a thought, then text, then tool calls, then how it ends. */
export type ScriptedAnswer = string | {
  text?: string;
  thought?: string;
  toolCalls?: readonly { name: string; input?: object; id?: string }[];
  /** Milliseconds before each word. Default: all at once. */
  pace?: number;
  /** How a whole answer ends. Default `"stop"`. */
  finish?: "stop" | "length" | "content_filter" | "pause";
  /** Fails, after what was said. `code` as of a real provider: `"rate_limit"`, `"temporary"`, `"authentication"` … */
  error?: { code: string; message?: string; retryAfter?: number };
  /** Breaks off, as a lost connection does. */
  cut?: boolean;
  usage?: Partial<Usage>;
};

/** `loaded` and `total` are bytes; `loaded` never falls and ends at `total`. */
export interface Progress {
  phase: "download" | "start" | "packages" | "modules" | "ready";
  loaded: number;
  total: number;
}

export interface LogEntry {
  level: "debug" | "info" | "warn" | "error";
  text: string;
}

export interface Diagnostic {
  type: string;
  [field: string]: unknown;
}

/** A tool that runs on the page and can touch it; for the model it is a tool like any other. */
export interface PageTool<Input = any> {
  /** What the model is told. */
  description: string;
  /** JSON Schema of the input. */
  inputSchema: object;
  /** The call may be repeated after a crash. Conversations refuse a tool that leaves this out. */
  idempotent?: boolean;
  /** It changes something outside. */
  writes?: boolean;
  /** Its output may give the model orders. */
  trusted?: boolean;
  /** A person is asked before each call. */
  approval?: boolean;
  /** Seconds. Default 60. */
  timeout?: number;
  /** What it returns is told to the model; what it throws, too, as an error. */
  execute(input: Input, call: PageToolCall): Portable | void | Promise<Portable | void>;
}

export interface PageToolCall {
  /** Aborted when the call is cancelled or over its time. */
  signal: AbortSignal;
  /** The same for every run of one call. */
  executionId: string;
  sessionId: string | null;
  context: any;
  /** Whether this call may have run before. */
  rerun: boolean;
}

export type CredentialsCallback = (request: CredentialRequest) => Credential | Promise<Credential>;

export interface CredentialRequest {
  provider: string;
  sessionId: string | null;
  /** The provider refused the key that was given last. */
  rejected: boolean;
  signal: AbortSignal;
}

export type Credential =
  string | { apiKey: string; headers?: Record<string, string>; expiresAt?: string | number | Date };

/**
 * What can go to Python: JSON values, `bigint`, bytes and Blobs, and objects with `toJSON` (as `Date`).
 * Other values are refused with `not_portable` and their path.
 */
export type Portable =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | ArrayBuffer
  | ArrayBufferView
  | Blob
  | { toJSON(key?: any): any }
  | readonly Portable[]
  | { readonly [key: string]: Portable };

export interface CallOptions {
  /** Cancels the command; it then rejects with `signal.reason`. */
  signal?: AbortSignal;
}

/** A running worker. */
export interface Langfx extends AsyncDisposable {
  readonly version: string;
  /** Whether this start was restored from a memory snapshot. */
  readonly snapshot: boolean;
  /** Settles once, at the end of the worker, and never rejects. */
  readonly closed: Promise<ClosedInfo>;
  /** An agent of the modules, by its name; an unknown one fails at its first use with `no_agent`. */
  agent(name: string): Agent;
  /** Calls a public function `"module:function"`; `args`: an object for keywords, an array for positions. */
  call<Result = any>(target: string, args?: Arguments, options?: CallOptions): Promise<Result>;
  /** Reads a public async generator `"module:generator"`, or a function that returns a stream. Leaving the loop cancels it. */
  stream<Item = any>(target: string, args?: Arguments, options?: CallOptions): Stream<Item>;
  /**
   * Ends the worker; all that is pending, used or read afterwards fails with `bridge_closed` at once. Any number of times.
   */
  close(options?: CloseOptions): Promise<void>;
}

export type Arguments = { readonly [name: string]: Portable } | readonly Portable[];

export interface CloseOptions {
  /** Lets open turns reach their next safe point first, for two seconds at most. */
  handoff?: boolean;
}

export type ClosedInfo = { reason: "closed" } | { reason: "fatal" | "lost"; error: LangfxError };

/** Has one reader. */
export interface Stream<Item> extends AsyncIterableIterator<Item, undefined, undefined> {
  /** The items as NDJSON in UTF-8, read instead of iterating; large integers are decimal text there. */
  readonly readable: ReadableStream<Uint8Array>;
}

export interface Agent {
  readonly name: string;
  /** A stored conversation; without an id a new one. Throws `invalid_session_id`. */
  session(id?: string, options?: SessionOptions): Session;
}

/** What a session may switch of its agent's model; `model_unsupported_…` ends a turn whose model is known to lack it. */
export interface ModelSettings {
  id?: string;
  /** A word of the provider's, such as "low"; "default" leaves it to the model. */
  effort?: string;
  /** The provider's fast lane. */
  fast?: boolean;
  /** The costlier one, which some models have; `fast` does not count then. */
  ultrafast?: boolean;
}

/** They apply to the turns that this object starts. */
export interface SessionOptions {
  /** Another model of the same provider by its id, or what else to switch. */
  model?: string | ModelSettings;
  instructions?: string | readonly string[];
  /** What tools get. */
  context?: { readonly [key: string]: Portable };
}

export interface Session {
  /** Null until the first prompt of a new conversation is accepted. */
  readonly id: string | null;
  /** Starts a turn. Never throws: failures come out of the turn. */
  prompt(input: PromptInput, options?: PromptOptions): Turn;
  /** Cancels the open turn, or the one with this id. Rejects with `cancelled` if Python is too busy to answer. */
  cancel(messageId?: string): Promise<"cancelled" | "none">;
  /** The stored lines after `cursor` (default 0), and those to come. Throws `invalid_cursor`. */
  stream(cursor?: number): Stream<Line>;
  /**
   * What the turns do that this page's worker runs, from now on and as it happens; nothing of it is stored. A turn is a
   * node `Agent:…` with its message id in `metadata.message_id`; its steps, tools and their agents are below it. Nobody
   * waits for the reader: one who is far behind gets `events_dropped`. It ends when the loop is left.
   */
  watch(): Stream<SessionEvent | EventsDropped>;
  /** The conversation as messages in their plain form. */
  messages(): Promise<Message[]>;
  /** The questions that turns of this conversation wait with, oldest first. */
  gates(): Promise<Gate[]>;
  /**
   * Answers one of them, with a value that fits its `schema`: else it rejects with `gate_answer_invalid` and the gate
   * stays open. `gate_not_found` where it is not open any more.
   */
  answer(gateId: string, value: Portable): Promise<void>;
  /** Refuses to answer; a call that needs approval is then denied, for this reason. */
  decline(gateId: string, reason?: string): Promise<void>;
}

/** A question that a turn puts to a person and waits with. */
export interface Gate {
  id: string;
  reason: string;
  /** What to decide by; of a call that needs approval `{ tool, args, checksum }`. */
  payload: any;
  /** JSON Schema of an answer. */
  schema: Record<string, any>;
  /** Of the call that asks. */
  callId?: string;
  /** ISO 8601 in UTC. */
  expiresAt?: string;
}

/** A text, or parts of a message in order; a text among them stands for itself. */
export type PromptInput = string | readonly (string | PromptPart)[];

export type PromptPart = { type: "text"; text: string } | MediaPart | { type: "cache_point"; ttl?: string };

/**
 * Media: bytes, an address, or the page's own name for the original, which may stand for its bytes.
 * An image is of the type that its bytes are (PNG, JPEG, GIF or WebP), up to 3,932,160 of them; `mimeType` may be left
 * out of it. A string as `data` is base64.
 */
export interface MediaPart {
  type: "image" | "audio" | "video" | "pdf" | "mime";
  mimeType?: string;
  data?: ArrayBuffer | ArrayBufferView | Blob | string;
  uri?: string;
  ref?: string;
}

/** What one side of a conversation said. Fields that have nothing to say are left out. */
export interface Message {
  role: "system" | "user" | "assistant" | "tool";
  /** The bytes of media are a `Uint8Array`. */
  parts: (PromptPart | ThoughtPart | ToolCallPart)[];
  /** Of a prompt: its message id. */
  id?: string;
  metadata?: Record<string, any>;
  /** Of a tool's result, with the tool's name. */
  callId?: string;
  name?: string;
  isError?: boolean;
  /** Of an answer. */
  usage?: Partial<Usage>;
  finishReason?: string;
  rawFinishReason?: string;
  model?: string;
  responseId?: string;
}

/** Reasoning; `payload` is the provider's own and goes back to it as it is. */
export interface ThoughtPart {
  type: "thought";
  content: string;
  payload?: any;
  replayCompatibility?: string;
  id?: string;
}

/** A call that the model asked for; without `args` it could not be read, and `rawArgs` is what the model wrote. */
export interface ToolCallPart {
  type: "tool_call";
  id: string;
  name: string;
  args?: Record<string, any>;
  rawArgs?: string;
}

export interface PromptOptions {
  /** Makes the prompt repeatable: the same id is stored once. Default: a new one. */
  messageId?: string;
  /** Cancels the turn; aborted before the call, nothing is sent and `accepted` rejects with `signal.reason`. */
  signal?: AbortSignal;
}

/** A view of one prompt and all that is done to answer it. Leaving the loop does not cancel anything. */
export interface Turn extends AsyncIterable<TurnEvent> {
  readonly messageId: string;
  /** Resolves once the prompt is stored. */
  readonly accepted: Promise<{ messageId: string; sessionId: string }>;
  /** Rejects only if the prompt was never stored or the worker is gone; a failed turn is a value. */
  readonly result: Promise<TurnResult>;
  /** All lines of the turn as NDJSON in UTF-8; each access starts at the first. */
  readonly readable: ReadableStream<Uint8Array>;
}

export interface TurnResult {
  messageId: string;
  stopReason: StopReason;
  usage: Usage | null;
  error: TurnError | null;
  epoch: number;
  /** The message id was known; this is what the earlier prompt came to. */
  repeated: boolean;
}

export type StopReason =
  | "end_turn"
  | "max_output_tokens"
  | "max_steps"
  | "max_tool_calls"
  | "max_total_tokens"
  | "max_time"
  | "refused"
  | "cancelled"
  | "steered"
  | "error"
  | "unknown";

/** Null where a provider did not tell. */
export interface Usage {
  inputTokens: number | null;
  outputTokens: number | null;
  totalTokens: number | null;
  cachedInputTokens: number | null;
  cacheWriteInputTokens: number | null;
  reasoningTokens: number | null;
  numRequests: number;
  /** Something was not counted: failed attempts, for one. */
  lowerBound: boolean;
}

export interface TurnError {
  name: string;
  message: string;
  code: string;
  retryable: boolean;
  /** `{ unresponsive: true }` if the page gave up waiting after a cancel. */
  details?: Record<string, any>;
}

/** What `for await` over a turn gives. */
export type TurnEvent = TextDelta | ThoughtDelta | ToolStart | ToolEnd | GateOpen | GateClosed;

/** What is stored, as `session.stream()` and `turn.readable` give it. */
export type Line = TurnEvent | TurnStart | TurnResume | TurnYield | TurnEnd | LinesPruned;

interface Stored {
  /** Of the prompt that this line belongs to. */
  messageId: string;
  epoch: number;
  /** 1, 2, 3 … per conversation. */
  cursor: number;
}

export interface TextDelta extends Stored {
  type: "text_delta";
  delta: string;
}

export interface ThoughtDelta extends Stored {
  type: "thought_delta";
  delta: string;
}

export interface ToolStart extends Stored {
  type: "tool_start";
  /** The model's id of the call. */
  id: string;
  executionId: string;
  name: string;
  checksum: string;
  startedAt: string | number;
  rerun: boolean;
  /** Absent if it is over 64 KiB; then `inputPreview` is there. */
  input?: any;
  inputTruncated?: true;
  inputPreview?: string;
}

export interface ToolEnd extends Stored {
  type: "tool_end";
  id: string;
  executionId: string;
  name: string;
  checksum: string;
  content?: any;
  contentTruncated?: true;
  isError: boolean;
  errorCode?: string;
  endedAt: string | number;
  durationMs: number;
}

export interface GateOpen extends Gate, Stored {
  type: "gate_open";
}

export interface GateClosed extends Stored {
  type: "gate_closed";
  /** Of the gate. */
  id: string;
  outcome: "answered" | "declined" | "timeout" | "cancelled";
}

export interface TurnStart extends Stored {
  type: "turn_start";
  sessionId: string;
  /** The prompt, or a preview of its text. */
  input: any;
}

/** The turn goes on after a crash or in another tab. */
export interface TurnResume extends Stored {
  type: "turn_resume";
  sessionId: string;
}

/** The turn was handed on at a safe point. */
export interface TurnYield extends Stored {
  type: "turn_yield";
}

export interface TurnEnd extends Stored {
  type: "turn_end";
  stopReason: StopReason;
  usage?: Usage | null;
  error?: TurnError | null;
  repeated?: boolean;
  /** The value of a run that a function of yours streams, of an agent with an `output`. */
  output?: any;
}

/** Older lines are gone; made for the reader, not stored. */
export interface LinesPruned {
  type: "lines_pruned";
  /** The last cursor that is gone. */
  through: number;
}

/**
 * What a streamed query gives, where a function of yours returns `lf.query_stream(…)` or yields its events:
 * `for await (const event of langfx.stream<QueryEvent<Note>>("module:function", args))`.
 *
 * First what the model writes, then exactly one event that says what came of it. Leaving the loop ends the request.
 */
export type QueryEvent<Value = any> = QueryProgress | QueryEnd<Value>;

/** Nothing of it is validated: show it, but do not act on it. */
export type QueryProgress =
  | { type: "text_delta"; delta: string }
  | { type: "thought_delta"; delta: string }
  | ObjectStart
  | FieldStart
  | StringFieldDelta
  | FieldEnd
  | ObjectEnd;

/** How a streamed query ends. */
export type QueryEnd<Value = any> = GenerationComplete<Value> | ParsingFailed | GenerationFailed | GenerationCancelled;

/** Names and indices that lead to a part of the value; empty for the value itself. */
export type FieldPath = readonly (string | number)[];

/** A container opens; its members follow. */
export interface ObjectStart {
  type: "object_start";
  path: FieldPath;
  /** Of answers in JSON, `"object"` and `"list"` only. */
  kind: "object" | "dict" | "list" | "tuple" | "set";
  /** The class that the model named. */
  className: string | null;
}

/** A member begins, or a value that is no container. */
export interface FieldStart {
  type: "field_start";
  path: FieldPath;
}

/** A piece of a member's text; the pieces joined are its value. */
export interface StringFieldDelta {
  type: "string_field_delta";
  path: FieldPath;
  delta: string;
}

/** A member is complete, but not validated: an object has its fields as they were written, a date is a text. */
export interface FieldEnd {
  type: "field_end";
  path: FieldPath;
  value: any;
  /** Of a value that is an object of a class. */
  className?: string;
}

/** The container is complete. */
export interface ObjectEnd {
  type: "object_end";
  path: FieldPath;
}

/** The validated value; of all events, only this one has it. */
export interface GenerationComplete<Value = any> {
  type: "generation_complete";
  value: Value;
  /** The model's answer in its plain form. */
  message: any;
  usage: Usage | null;
}

/** The answer is no value of the wanted type. */
export interface ParsingFailed {
  type: "parsing_failed";
  error: QueryError;
  /** The model's answer in its plain form. */
  message: any;
}

/** There is no whole answer: the provider, the way to it, a limit or the deadline ended it. */
export interface GenerationFailed {
  type: "generation_failed";
  error: QueryError;
}

/** The query was cancelled in Python. */
export interface GenerationCancelled {
  type: "generation_cancelled";
  reason: string;
}

export interface QueryError {
  name: string;
  message: string;
  code: string;
  retryable: boolean;
  details: Record<string, any>;
}

/**
 * What a session of yours tells, where a function of yours yields the events that its observer got:
 * `for await (const event of langfx.stream<SessionEvent>("module:function", args))`.
 *
 * `action_…` is for actions, tools, maps and their branches, `query_…` for queries and the steps of agents.
 */
export type SessionEvent = NodeEvent | LogAdded | ProgressUpdate | MetadataUpdate;

/**
 * A piece of work begins or has ended; its node is without what was asked, as a conversation is long. A tool's has its
 * `args` and `execution_id` as metadata and what it gave as its result. What is over 16 KiB is cut.
 */
export interface NodeEvent extends Told {
  type: "action_start" | "action_end" | "query_start" | "query_end";
  node: Omit<TraceNode, "request">;
}

/** A piece of work logged a line. */
export interface LogAdded extends Told {
  type: "log_added";
  entry: TraceLogEntry;
}

/** How far a piece of work is; it stands in place of what it said before. */
export interface ProgressUpdate extends Told, TraceProgress {
  type: "progress_update";
  nodeId: string;
}

/** A piece of work has more metadata; this is all of it. */
export interface MetadataUpdate extends Told {
  type: "metadata_update";
  nodeId: string;
  metadata: Record<string, TraceValue>;
}

/** Made for a reader of `watch` who was too slow: so many older events are gone. */
export interface EventsDropped extends Told {
  type: "events_dropped";
  count: number;
}

interface Told {
  sessionId: string;
  /** ISO 8601, as all times here. */
  at: string;
}

/** A session's trace, as a function of yours returns `session.root`: each node after its parent. */
export interface Trace {
  version: 1;
  nodes: TraceNode[];
}

/** One piece of work; usage, requests and kept answers are its own, without those of what is below it. */
export interface TraceNode {
  /** Where it stands: `s1/a1/q2` is the second thing that the first action began, a query. */
  id: string;
  parentId: string | null;
  kind: "session" | "action" | "query" | "step" | "tool" | "parallel";
  name: string;
  status: "running" | "ok" | "error" | "cancelled";
  startedAt: string;
  endedAt: string | null;
  error: TurnError | null;
  usage: Usage | null;
  requests: number;
  cached: number;
  /** Messages in their plain form, as in `response`; media are named without their bytes. */
  request: any[] | null;
  response: any;
  result: TraceValue;
  repairs: number;
  metadata: Record<string, TraceValue>;
  progress: TraceProgress | null;
}

export interface TraceProgress {
  title: string;
  /** From 0 to 1. */
  fraction: number | null;
  data: Record<string, TraceValue>;
}

export interface TraceLogEntry {
  at: string;
  nodeId: string;
  level: "debug" | "info" | "warning" | "error" | "fatal";
  message: string;
  data: Record<string, TraceValue>;
}

/** A value of Python: itself where JSON has all of it, else its class and what can be shown of it. */
export type TraceValue = { json: any } | { type: string; value?: any; text?: string };

/** What can go wrong between page and Python: `code`s by `name`. Agents, models and stores have codes of their own. */
export interface BridgeErrors {
  BootError:
    | "boot_failed"
    | "boot_blocked"
    | "boot_timeout"
    | "download_failed"
    | "integrity_failed"
    | "unsupported_browser";
  /** The worker is gone; `connect` again. */
  WorkerStoppedError: "worker_stopped";
  /** You called `close()`. */
  BridgeClosedError: "bridge_closed";
  BridgeError: "bridge_protocol" | "bridge_version" | "too_many_commands";
  /** `details.path` leads to what cannot cross. */
  NotPortableError: "not_portable" | "message_too_large" | "message_too_deep";
  /** `details.names` */
  PackageError: "package_failed";
  /** `details.module`, `file`, `line`, `traceback` */
  UserModuleError: "module_failed";
  TargetNotFoundError: "target_not_found";
  /** A function of yours raised: `details.type`, `traceback`. */
  UserCodeError: "user_code_failed";
  CredentialsError: "credentials_failed";
  InvalidArgumentError: "invalid_argument";
  AbortError: "cancelled";
}

/** Every error of this library, told apart by `code`, which never changes its meaning. */
export interface LangfxError extends Error {
  readonly code: BridgeErrors[keyof BridgeErrors] | (string & {});
  /** The same call may succeed later. */
  readonly retryable: boolean;
  readonly details: Record<string, any>;
}
