// @ts-check
/** Whom the visitor may ask: the four wires, and well-known servers of the one that many of them speak. */

/** @typedef {"anthropic" | "openai" | "gemini" | "openai_chat"} Wire */

/**
 * @typedef {object} Server
 * @property {string} name
 * @property {string} url The version root; empty where the visitor types it.
 * @property {string} key How a key there begins; empty where none is needed.
 * @property {string} help What to do when it cannot be reached. `{page}` stands for the origin of the page.
 */

/** @type {Record<Wire, string>} The class of each wire in `lf.llms`. */
export const CLASSES = { anthropic: "Anthropic", openai: "OpenAI", gemini: "Gemini", openai_chat: "OpenAIChat" };

const HOSTED = "It answers pages like this one: see whether you are online, and whether an extension or a firewall blocks it.";

/** @type {Record<Wire, Server[]>} */
export const SERVERS = {
  anthropic: [{ name: "Anthropic", url: "https://api.anthropic.com/v1", key: "sk-ant-…", help: HOSTED }],
  openai: [{ name: "OpenAI", url: "https://api.openai.com/v1", key: "sk-…", help: HOSTED }],
  gemini: [
    { name: "Gemini", url: "https://generativelanguage.googleapis.com/v1beta", key: "AIza…", help: HOSTED },
  ],
  openai_chat: [
    { name: "OpenRouter", url: "https://openrouter.ai/api/v1", key: "sk-or-…", help: HOSTED },
    { name: "Groq", url: "https://api.groq.com/openai/v1", key: "gsk_…", help: HOSTED },
    { name: "DeepSeek", url: "https://api.deepseek.com/v1", key: "sk-…", help: HOSTED },
    { name: "Mistral", url: "https://api.mistral.ai/v1", key: "…", help: HOSTED },
    {
      name: "Ollama",
      url: "http://localhost:11434/v1",
      key: "",
      help: "Is Ollama running? It lets this page in if it was started so: OLLAMA_ORIGINS={page} ollama serve",
    },
    {
      name: "LM Studio",
      url: "http://localhost:1234/v1",
      key: "",
      help: "Is its server running? It lets pages in if it was started so: lms server start --cors",
    },
    {
      name: "llama.cpp",
      url: "http://localhost:8080/v1",
      key: "",
      help: "Is llama-server running at this port? It lets pages in, but not with a key: leave the key empty.",
    },
    {
      name: "vLLM",
      url: "http://localhost:8000/v1",
      key: "",
      help: "Is vllm serve running at this port? It lets pages in unless it was told otherwise.",
    },
    { name: "Another server", url: "", key: "…", help: "" },
  ],
};

const OTHER = "See whether it runs at this address, and whether it lets pages of {page} in (CORS).";
const PERMISSION = "If the browser asks whether this page may reach your local network, allow it.";
const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\]|10\..+|192\.168\..+|.+\.local)$/;

/**
 * What to do when the server at an address cannot be reached, or does not let the page in.
 * @param {string} url
 * @param {string} page The page's origin.
 */
export function helpToReach(url, page) {
  const known = Object.values(SERVERS).flat().find((server) => server.url && sameServer(server.url, url));
  const help = (known?.help || OTHER).replace("{page}", page);
  return LOCAL.test(new URL(url).hostname) ? `${PERMISSION} ${help}` : help;
}

/**
 * @param {string} one
 * @param {string} other
 */
function sameServer(one, other) {
  const [a, b] = [new URL(one), new URL(other)];
  return a.port === b.port && (a.hostname === b.hostname || (LOCAL.test(a.hostname) && LOCAL.test(b.hostname)));
}

/**
 * The host and port of an address, or the address itself where it is none yet.
 * @param {string} url
 */
export const hostOf = (url) => (URL.canParse(url) ? new URL(url).host : url);
