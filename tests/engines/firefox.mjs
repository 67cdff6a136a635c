/**
 * Drives Firefox over WebDriver BiDi for `firefox.py`: a line of JSON in, a line of JSON out, one after the other.
 * Arguments: the `node_modules` with puppeteer-core, the path of the browser.
 */

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [folder, executablePath] = process.argv.slice(2);
const { launch } = createRequire(import.meta.url)(`${folder}/puppeteer-core`);
const browser = await launch({ browser: "firefox", executablePath, headless: true });

/** What Firefox reports of a worker that is ended while Pyodide runs, to its driver alone: the page hears nothing. */
const CUT_OFF = "uncaught exception: undefined";

/** Tabs by number, with what their consoles complained about. */
const tabs = new Map();

const commands = {
  async open() {
    const page = await browser.newPage();
    const complaints = [];
    page.on("console", (message) => {
      const type = message.type();
      if (["error", "warn", "assert"].includes(type)) complaints.push(`${type}: ${message.text()}`);
    });
    page.on("pageerror", ({ message }) => message === CUT_OFF || complaints.push(`uncaught: ${message}`));
    tabs.set(tabs.size, { page, complaints });
    return tabs.size - 1;
  },
  goto: ({ page }, url) => page.goto(url).then(() => null),
  run: ({ page }, expression) => page.evaluate(expression),
  complaints: ({ complaints }) => complaints,
  async screenshot({ page }, path, width, height) {
    await page.setViewport({ width, height });
    await page.screenshot({ path });
  },
  close: ({ page }) => page.close(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { command, tab, args } = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await commands[command](tabs.get(tab), ...args)) ?? null };
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
