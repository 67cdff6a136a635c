// @ts-check
/**
 * Everything that crosses between page and worker: the kinds, their fields and the limits.
 *
 * A post is `{text, blobs}`: `text` a JSON array of messages, `blobs` the transferred buffers.
 * `bridge/wire.py` is the Python side of this file; `tests/wire/` holds samples that both read.
 */

/** Number of this wire; `setup` carries it, and another one is refused with `bridge_version`. */
export const PROTOCOL = 1;

/** Sizes in UTF-16 units of JSON text or in bytes, waits in milliseconds. */
export const LIMITS = Object.freeze({
  text: 24 * 2 ** 20,
  blobs: 64 * 2 ** 20,
  depth: 200,
  digits: 4300,
  commands: 1024,
  windowItems: 256,
  windowBytes: 2 ** 20,
  silence: 60_000,
  cancel: 5_000,
  credentials: 30_000,
  close: 250,
  handoff: 2_250,
  restore: 10_000,
});

/** The cache that holds memory snapshots: `heap`, packs and `failures` below the URL that `Boot` names. */
export const SNAPSHOT_CACHE = "langfx-web-snapshot";

/**
 * Kinds the page sends, with their fields; `?` marks a field that may be absent.
 * Any message may also carry `big` and `blobs`, see `Extras`.
 */
export const TO_WORKER = Object.freeze({
  setup: [
    ...["id", "protocol", "version", "modules", "tools", "credentials", "store", "resume"],
    ...["provider?", "packages?", "wheels?"],
  ],
  call: ["id", "target", "args"],
  stream: ["id", "target", "args"],
  session_prompt: ["id", "agent", "session", "input", "messageId?", "model?", "instructions?", "context?"],
  session_cancel: ["id", "agent", "session", "messageId?"],
  session_stream: ["id", "agent", "session", "cursor"],
  session_messages: ["id", "agent", "session"],
  session_gates: ["id", "agent", "session"],
  session_watch: ["id", "agent", "session"],
  session_answer: ["id", "agent", "session", "gateId", "value"],
  session_decline: ["id", "agent", "session", "gateId", "reason?"],
  agent_check: ["id", "agent"],
  cancel: ["id"],
  credit: ["id", "items", "bytes"],
  tool_result: ["id", "value"],
  tool_error: ["id", "error"],
  credential_result: ["id", "value"],
  credential_error: ["id", "error"],
  close: ["handoff"],
});

/** Kinds the worker sends, written as in `TO_WORKER`. */
export const TO_PAGE = Object.freeze({
  ready: ["version", "agents"],
  accepted: ["id", "value"],
  result: ["id", "value"],
  items: ["id", "items"],
  end: ["id", "value", "count"],
  error: ["id", "error"],
  tool_call: ["id", "name", "input", "executionId", "sessionId", "context", "rerun"],
  tool_cancel: ["id"],
  credential_request: ["id", "provider", "sessionId", "rejected"],
  progress: ["phase", "loaded", "total"],
  log: ["level", "text"],
  fatal: ["error"],
  closed: [],
  snapshot: ["state", "reason?"],
  diagnostic: ["event"],
});

/**
 * @typedef {(string | number)[]} Path keys and indices from the message down to a value
 *
 * @typedef {object} Extras
 * @property {Path[]} [big] where decimal text stands for an int that a double cannot hold
 * @property {Path[]} [blobs] where null stands for bytes: the next buffers of the post, in this order
 *
 * @typedef {{code: string, name: string, message: string, retryable: boolean, details: Record<string, any>}} WireError
 * @typedef {{name: string, message: string}} PageError what a page handler threw
 * @typedef {{text: string, blobs: ArrayBuffer[]}} Post
 *
 * @typedef {{url: string, source: string}} ModuleSource
 * @typedef {object} ToolDeclaration
 * @property {string} name
 * @property {string} description
 * @property {object} inputSchema
 * @property {boolean} [idempotent]
 * @property {boolean} [writes]
 * @property {boolean} [trusted]
 * @property {number} [timeout] seconds
 *
 * @typedef {"memory" | "indexeddb" | {name: string}} StoreOption
 *
 * @typedef {{kind: "setup", id: number, protocol: number, version: string} & Settings} Setup
 * @typedef {object} Settings
 * @property {ModuleSource[]} modules
 * @property {ToolDeclaration[]} tools
 * @property {boolean} credentials whether there is a callback
 * @property {StoreOption} store
 * @property {boolean} resume
 * @property {string[]} [packages] requirements
 * @property {string[]} [wheels] absolute URLs
 * @property {object} [provider] scripted answers in place of the agents' models: a list, or a list by agent name
 *
 * @typedef {{kind: "call" | "stream", id: number, target: string, args: object}} Call keywords or positions
 * @typedef {{kind: "session_prompt", id: number, agent: string, session: string | null} & Prompt} SessionPrompt
 * @typedef {object} Prompt
 * @property {any} input text or a list of parts
 * @property {string} [messageId]
 * @property {string} [model]
 * @property {string | string[]} [instructions]
 * @property {object} [context]
 *
 * @typedef {{kind: "session_cancel", id: number, agent: string, session: string, messageId?: string}} SessionCancel
 * @typedef {{kind: "session_stream", id: number, agent: string, session: string, cursor: number}} SessionStream
 * @typedef {{kind: "session_messages" | "session_watch" | "session_gates", id: number, agent: string, session: string}} SessionLook
 * @typedef {{kind: "session_answer", id: number, agent: string, session: string, gateId: string, value: any}} GateAnswer
 * @typedef {{kind: "session_decline", id: number, agent: string, session: string} & Refusal} GateDecline
 * @typedef {{gateId: string, reason?: string}} Refusal
 * @typedef {{kind: "agent_check", id: number, agent: string}} AgentCheck
 * @typedef {{kind: "cancel", id: number}} Cancel `id` of the command to cancel; its own end still comes
 * @typedef {{kind: "credit", id: number, items: number, bytes: number}} Credit what was read since the last one
 * @typedef {{kind: "tool_result" | "credential_result", id: number, value: any}} Answer
 * @typedef {{kind: "tool_error" | "credential_error", id: number, error: PageError}} AnswerError
 * @typedef {{kind: "close", handoff: boolean}} Close
 * @typedef {Setup | Call | SessionPrompt | SessionCancel | SessionStream | SessionLook | AgentCheck} SessionCommand
 * @typedef {SessionCommand | GateAnswer | GateDecline} Command
 * @typedef {(Command | Cancel | Credit | Answer | AnswerError | Close) & Extras} ToWorker
 *
 * @typedef {{kind: "ready", version: string, agents: string[]}} Ready
 * @typedef {{kind: "accepted" | "result", id: number, value: any}} Value
 * @typedef {{kind: "items", id: number, items: any[]}} Items
 * @typedef {{kind: "end", id: number, value: any, count: number}} End `count` items are due in all
 * @typedef {{kind: "error", id: number, error: WireError}} Failed
 * @typedef {{kind: "tool_call", id: number, name: string, input: any} & Execution} ToolCall
 * @typedef {{executionId: string, sessionId: string | null, context: any, rerun: boolean}} Execution
 * @typedef {{kind: "tool_cancel", id: number}} ToolCancel
 * @typedef {{kind: "credential_request", id: number} & CredentialWish} CredentialRequest
 * @typedef {{provider: string, sessionId: string | null, rejected: boolean}} CredentialWish
 * @typedef {{kind: "progress", phase: string, loaded: number, total: number}} Progress
 * @typedef {{kind: "log", level: "debug" | "info" | "warn" | "error", text: string}} Log
 * @typedef {{kind: "fatal", error: WireError}} Fatal
 * @typedef {{kind: "closed"}} Closed
 * @typedef {{kind: "snapshot", state: "found" | "restored" | "failed", reason?: string}} Snapshot
 * @typedef {{kind: "diagnostic", event: any}} Diagnostic
 * @typedef {Snapshot | Ready | Progress | Log | Fatal | Closed | Diagnostic} Notice what carries no id
 * @typedef {(Notice | Value | Items | End | Failed | ToolCall | ToolCancel | CredentialRequest) & Extras} ToPage
 *
 * @typedef {{size: number, sha256: string}} Content `sha256` in SRI spelling
 * @typedef {"boot" | "schemas" | "extra" | "wheels" | "page" | "later"} FileSet files that are loaded together
 * @typedef {Content & {set: FileSet, unpacked?: Content}} ManifestFile `unpacked`: of a pack that the host unpacks
 * @typedef {object} Manifest
 * @property {1} format
 * @property {string} version
 * @property {string} pyodide
 * @property {string} python
 * @property {string} runtime name of the runtime folder
 * @property {string} snapshotKey of memory snapshots: another one for everything that could change them
 * @property {Record<string, ManifestFile>} files by path below it
 *
 * The one structured message, before any text.
 * @typedef {object} Boot
 * @property {Manifest} manifest
 * @property {string} base URL of the runtime folder
 * @property {boolean} jspi
 * @property {string} page URL of the page, without query and fragment
 * @property {string | null} snapshot where one is looked for
 *
 * The one message to a worker that makes a snapshot; it answers `{made}`, "" or why not.
 * @typedef {{manifest: Manifest, base: string, jspi: boolean, snapshot: string}} Make
 */
