// @ts-check
/**
 * One HTTP exchange for Python: it reads ahead a little, hands on bytes and stops at once when told.
 */

/** Bytes that may wait for Python before reading pauses. */
const READ_AHEAD = 256 * 1024;

/**
 * Starts a request and returns its exchange at once.
 * @param {string} headText JSON `{"method", "url", "headers": {…}}`
 * @param {Uint8Array | null} [body]
 */
export function openExchange(headText, body) {
  return new Exchange(JSON.parse(headText), body ?? undefined);
}

class Exchange {
  #controller = new AbortController();
  /** @type {ReadableStreamDefaultReader<Uint8Array> | undefined} */
  #reader;
  /** @type {Uint8Array[]} */
  #chunks = [];
  #size = 0;
  #ended = false;
  /** @type {unknown} */
  #failure;
  /**
   * The call of next() that waits for bytes.
   * @type {{resolve(bytes: Uint8Array): void, reject(error: unknown): void} | undefined}
   */
  #waiter;
  /** Lets the reading go on. @type {() => void} */
  #resume = () => {};
  /** @type {Promise<string>} */
  #head;
  /** @type {(error: unknown) => void} */
  #rejectHead = () => {};

  /**
   * @param {{method: string, url: string, headers: Record<string, string>}} request
   * @param {Uint8Array | undefined} body
   */
  constructor(request, body) {
    this.#head = quiet(
      new Promise((resolve, reject) => {
        this.#rejectHead = reject;
        this.#start(request, body).then(resolve, (error) => {
          this.#end(error);
          reject(error);
        });
      }),
    );
  }

  /** Resolves to JSON `{"status", "headers": [[name, value]…], "url"}`; rejects with the error of fetch. */
  head() {
    return this.#head;
  }

  /**
   * Resolves to all bytes that have arrived, waiting for some; an empty array is the end. Rejects on a broken body.
   * One call at a time: a later one replaces it.
   * @returns {Promise<Uint8Array>}
   */
  next() {
    this.#waiter?.reject(new DOMException("Another next() took its place.", "AbortError"));
    return quiet(
      new Promise((resolve, reject) => {
        this.#waiter = { resolve, reject };
        this.#serve();
      }),
    );
  }

  /** Ends the exchange: aborts the request, stops the body, frees what waited. Any number of times, at any moment. */
  close() {
    if (this.#controller.signal.aborted) return;
    const closed = new DOMException("The exchange was closed.", "AbortError");
    this.#controller.abort(closed);
    this.#reader?.cancel().catch(() => {});
    this.#chunks = [];
    this.#size = 0;
    this.#rejectHead(closed);
    this.#end(closed);
    this.#resume();
  }

  /**
   * @param {{method: string, url: string, headers: Record<string, string>}} request
   * @param {Uint8Array | undefined} body
   */
  async #start({ method, url, headers }, body) {
    const { signal } = this.#controller;
    const response = await fetch(url, {
      method,
      headers,
      body: /** @type {Uint8Array<ArrayBuffer> | undefined} */ (body),
      mode: "cors",
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      referrerPolicy: "no-referrer",
      signal,
    });
    this.#reader = response.body?.getReader();
    if (signal.aborted) this.#reader?.cancel().catch(() => {});
    else this.#readAhead();
    return JSON.stringify({ status: response.status, headers: [...response.headers], url: response.url });
  }

  async #readAhead() {
    try {
      while (this.#reader && !this.#ended) {
        const { done, value } = await this.#reader.read();
        if (done || this.#ended) break;
        this.#chunks.push(value);
        this.#size += value.length;
        this.#serve();
        if (this.#size >= READ_AHEAD) await new Promise((resolve) => (this.#resume = () => resolve(undefined)));
      }
      this.#end();
    } catch (error) {
      this.#end(error);
    }
  }

  /** @param {unknown} [failure] */
  #end(failure) {
    if (this.#ended) return;
    this.#ended = true;
    this.#failure = failure;
    this.#serve();
  }

  /** Settles the waiting next(), if there is something to tell: bytes first, then the failure or the end. */
  #serve() {
    const waiter = this.#waiter;
    if (!waiter || !(this.#size || this.#ended)) return;
    this.#waiter = undefined;
    if (!this.#size && this.#failure !== undefined) waiter.reject(this.#failure);
    else waiter.resolve(this.#take());
  }

  #take() {
    const [first = new Uint8Array()] = this.#chunks;
    const bytes = this.#chunks.length > 1 ? join(this.#chunks, this.#size) : first;
    this.#chunks = [];
    this.#size = 0;
    this.#resume();
    return bytes;
  }
}

/**
 * @param {Uint8Array[]} chunks
 * @param {number} size
 */
function join(chunks, size) {
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/**
 * Marks a promise as one that may fail unseen; whoever awaits it still gets the error.
 * @template T
 * @param {Promise<T>} promise
 */
function quiet(promise) {
  promise.catch(() => {});
  return promise;
}
