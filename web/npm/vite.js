/**
 * For apps that are built with Vite: `plugins: [langfx()]`.
 *
 * The runtime folder is served and copied as it is, since its files are found by their places and checked by their
 * hashes; only the page's modules are bundled. A Python file that is imported gives its URL, for `modules`.
 */

import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { runtime } = JSON.parse(readFileSync(join(here, "manifest.json"), "utf8"));
const copied = ["langfx-web-sw.js", ...filesBelow(runtime)];

const ENTRY = "\0langfx-web";
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json", ".wasm": "application/wasm" };

export function langfx() {
  let config;
  return {
    name: "langfx-web",
    enforce: "pre",

    config: () => ({ optimizeDeps: { exclude: ["langfx-web"] } }),

    configResolved(resolved) {
      config = resolved;
    },

    resolveId: (source) => (source === "langfx-web" ? ENTRY : null),

    load(id) {
      if (id === ENTRY) return entry(config.base);
      if (!id.endsWith(".py")) return null;
      if (config.command === "serve") return `export default ${JSON.stringify(devUrl(id, config))};`;
      // Below a folder of its own, the file keeps its name, which is the name of the module.
      const source = readFileSync(id);
      const folder = createHash("sha256").update(source).digest("hex").slice(0, 8);
      const file = this.emitFile({ type: "asset", fileName: `${config.build.assetsDir}/${folder}/${basename(id)}`, source });
      return `export default import.meta.ROLLUP_FILE_URL_${file};`;
    },

    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        const [path] = request.url.split("?");
        const file = path.startsWith(config.base) ? path.slice(config.base.length) : "";
        if (!copied.includes(file)) return next();
        response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
        response.end(readFileSync(join(here, file)));
      });
    },

    generateBundle() {
      if (this.environment?.config.consumer === "server") return;
      for (const fileName of copied) this.emitFile({ type: "asset", fileName, source: readFileSync(join(here, fileName)) });
    },
  };
}

/** `connect` with another default for `baseUrl`: where this plugin puts the runtime folder. */
function entry(base) {
  const front = JSON.stringify(join(here, "langfx-web.js"));
  return `
import { connect as connectTo } from ${front};
export * from ${front};
export const connect = (options) => connectTo({ baseUrl: ${JSON.stringify(base)}, ...options });
`;
}

function devUrl(file, { base, root }) {
  return file.startsWith(`${root}/`) ? base + file.slice(root.length + 1) : `${base}@fs${file}`;
}

function filesBelow(folder) {
  const entries = readdirSync(join(here, folder), { withFileTypes: true });
  return entries.flatMap((entry) =>
    entry.isDirectory() ? filesBelow(`${folder}/${entry.name}`) : `${folder}/${entry.name}`,
  );
}
