// @ts-check
/** In every page of `build.py serve DIR`: loads it again when a file changes, and shows what nobody caught. */

{
  const { src } = /** @type {HTMLScriptElement} */ (document.currentScript);
  new EventSource(src.replace("live.js", "changes")).onmessage = () => location.reload();

  addEventListener("unhandledrejection", ({ reason }) => show(reason));
  addEventListener("error", ({ error, message }) => show(error ?? { message }));
  // What a script or a style sheet could not load is told to its element alone.
  addEventListener("error", ({ target }) => target instanceof HTMLElement && show(notLoaded(target)), true);

  /** @param {any} error */
  function show(error) {
    const { code, name = "Error", message = String(error) } = error ?? {};
    const panel = document.createElement("dialog");
    panel.className = "langfx-error";
    panel.style.cssText = "max-width: 60rem; padding: 1rem 1.5rem; border: 2px solid #b3261e; border-radius: 8px";
    const [title, text, close] = ["strong", "pre", "button"].map((tag) => document.createElement(tag));
    title.textContent = code ?? name;
    text.textContent = message;
    text.style.cssText = "white-space: pre-wrap; overflow-wrap: anywhere";
    close.textContent = "Close";
    close.onclick = () => panel.remove();
    panel.append(title, text, close);
    document.documentElement.append(panel);
    panel.showModal();
  }

  /** @param {any} element */
  function notLoaded({ src, href, tagName }) {
    const what = src || href || `an inline ${tagName.toLowerCase()}`;
    return { name: "Not loaded", message: `${what}, or something that it imports, could not be loaded.` };
  }
}
