// Requests to the service that has served this page.

const TIMEOUT = 10_000; // milliseconds
const place = "porchlight-key";
let key = read();

function read() {
  try {
    return sessionStorage.getItem(place) ?? "";
  } catch {
    return ""; // storage is off: the key is kept by this page alone
  }
}

export const hasKey = () => key !== "";

export function useKey(text) {
  key = text;
  try {
    if (key) sessionStorage.setItem(place, key);
    else sessionStorage.removeItem(place);
  } catch { /* see above */ }
}

/** An error that the service has answered with; `status` is 0 if it has not answered. */
export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function request(path, options) {
  const headers = { ...options.headers };
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(path, {
      ...options, headers, cache: "no-store", credentials: "omit", redirect: "error",
    });
  } catch (error) {
    throw new Problem(0, error.name === "TimeoutError" ? "no answer in time" : "no connection");
  }
  if (response.ok) return response;
  const { detail } = await response.json().catch(() => ({}));
  throw new Problem(response.status, detail ?? `The service answered ${response.status}.`);
}

/** The answer to a request, as an object. */
export async function call(path, method = "GET") {
  const response = await request(path, { method, signal: AbortSignal.timeout(TIMEOUT) });
  try {
    return await response.json();
  } catch {
    throw new Problem(0, "no connection");
  }
}

/** The path of something of an account. */
export function accountPath(...names) {
  const lost = names.find((name) => /^\.\.?$/.test(name)); // escaped ones are lost, too
  if (lost) {
    throw new Problem(0, `Browsers remove “${lost}” from paths. Use curl --path-as-is or `
      + "the native protocol, such as its “kick”.");
  }
  return `/v1/accounts/${names.map(encodeURIComponent).join("/")}`;
}

/** Server-sent events: `[name, data]`, until the stream ends. `opened` is called at the start. */
export async function* stream(path, signal, opened) {
  const response = await request(path, { signal, headers: { Accept: "text/event-stream" } });
  opened();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        // Not `.`: a text may have separators that end a line for it.
        const [, event, data] = /event: ([^\n]*)\n[^]*?data: ([^\n]*)/.exec(part) ?? [];
        if (event) yield [event, JSON.parse(data)];
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // whoever reads no further hangs up
  }
}
