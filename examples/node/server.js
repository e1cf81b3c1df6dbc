// A backend with a login form, which signs tokens for Porchlight: node server.js
// Environment: PORT, JWT_KEY (a file with the private key), PORCHLIGHT (its HTTP API, for the SDK),
// PORCHLIGHT_SOCKET (its WebSocket).
import { createPrivateKey, randomBytes, scrypt, sign, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { promisify } from "node:util";

const { PORT = "8000", JWT_KEY = "jwt.key" } = process.env;
const { PORCHLIGHT = "http://127.0.0.1:7401" } = process.env;
const { PORCHLIGHT_SOCKET = "ws://127.0.0.1:7400/v1/socket" } = process.env;
const tokenSeconds = 600; // a signed-out user's session in Porchlight ends after this at the latest
const loginSeconds = 8 * 3600;
const guessesMax = 32; // that are checked or wait for it, about a second's work

const key = createPrivateKey(readFileSync(JWT_KEY));
if (key.asymmetricKeyDetails?.namedCurve !== "prime256v1") throw new Error("JWT_KEY: not P-256");

// In place of this: your users, and your sessions, in your database.
const derived = promisify(scrypt); // on another thread: it takes a while, as it should
const hashed = async (password, salt = randomBytes(16)) =>
  ({ salt, hash: await derived(password, salt, 32) });
const users = new Map();
for (const name of ["alice", "bob", "carol"]) users.set(name, await hashed(`${name}-secret`));
const sessions = new Map(); // by the secret in the cookie

// An unknown name takes as long as a wrong password, and the time of neither depends on the guess.
const unknown = await hashed(randomBytes(16));
async function isRight(name, password) {
  const { salt, hash } = users.get(name) ?? unknown;
  return timingSafeEqual((await hashed(password, salt)).hash, hash) && users.has(name);
}
let guesses = 0;

// A JWT, signed with ES256: RFC 7515. Node writes such signatures as DER, unless told otherwise.
function token(account) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const exp = Math.floor(Date.now() / 1000) + tokenSeconds;
  const signed = `${part({ alg: "ES256", typ: "JWT" })}.${part({ sub: account, exp })}`;
  const signature = sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

const page = (name) => readFileSync(new URL(`page/${name}`, import.meta.url), "utf8")
  .replaceAll("{{porchlight}}", PORCHLIGHT).replaceAll("{{socket}}", PORCHLIGHT_SOCKET);
const policy = `default-src 'none'; style-src 'self'; script-src 'self' ${PORCHLIGHT}; ` +
  `connect-src 'self' ${new URL(PORCHLIGHT_SOCKET).origin}; form-action 'self'; ` +
  "base-uri 'none'; frame-ancestors 'none'";

function sessionOf(request) {
  const id = /(?:^|; )session=([\w-]{43})(?:;|$)/.exec(request.headers.cookie ?? "")?.[1];
  const session = sessions.get(id);
  if (session && session.ends > Date.now()) return { id, ...session };
  sessions.delete(id);
  return undefined;
}

async function form(request) {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) {
    body += chunk;
    if (body.length > 4096) throw new Error("too long");
  }
  return new URLSearchParams(body);
}

const cookie = (value, seconds) => // with TLS in front of this, add "; Secure"
  ({ "Set-Cookie": `session=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}` });

const routes = {
  "GET /": (request) =>
    [200, "text/html", page(sessionOf(request) ? "friends.html" : "login.html")],
  "GET /friends.js": () => [200, "text/javascript", page("friends.js")],
  "GET /style.css": () => [200, "text/css", page("style.css")],
  // The account is that of the session, never one that the request names.
  "GET /token": (request) => {
    const session = sessionOf(request);
    return session ? [200, "text/plain", token(session.account)] : [401, "text/plain", ""];
  },
  "GET /friends": (request) => {
    const account = sessionOf(request)?.account;
    const others = [...users.keys()].filter((name) => name !== account);
    return account ? [200, "application/json", JSON.stringify(others)] : [401, "text/plain", ""];
  },
  "POST /login": async (request) => {
    const fields = await form(request);
    const account = fields.get("account") ?? "";
    const password = fields.get("password") ?? "";
    // Or those of one client would delay the logins of all others.
    if (guesses === guessesMax) return [503, "text/plain", "busy", { "Retry-After": "1" }];
    guesses += 1;
    const right = await isRight(account, password).finally(() => { guesses -= 1; });
    if (!right) return [403, "text/html", page("login.html")];
    sessions.delete(sessionOf(request)?.id);
    for (const [old, { ends }] of sessions) { // in the order of their ends
      if (ends > Date.now()) break;
      sessions.delete(old);
    }
    const id = randomBytes(32).toString("base64url"); // a new one, whatever the browser had
    sessions.set(id, { account, ends: Date.now() + loginSeconds * 1000 });
    return [303, "text/plain", "", { Location: "/", ...cookie(id, loginSeconds) }];
  },
  "POST /logout": (request) => {
    sessions.delete(sessionOf(request)?.id);
    return [303, "text/plain", "", { Location: "/", ...cookie("", 0) }];
  },
};

// Who sends a request too slowly is disconnected. The second limit is how often that is checked.
const limits = { requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };
const server = createServer(limits, async (request, response) => {
  const route = routes[`${request.method} ${request.url.split("?")[0]}`];
  // Browsers say from where a form is sent: one of another site must not sign its reader in or out.
  const { origin, host } = request.headers;
  const isForeign = request.method === "POST" && origin && !origin.endsWith(`//${host}`);
  let answer = [404, "text/plain", ""];
  try {
    if (route && !isForeign) answer = await route(request);
  } catch {
    answer = [400, "text/plain", ""];
  }
  const [status, type, body, more] = answer;
  response.writeHead(status, {
    "Content-Type": `${type}; charset=utf-8`, "Content-Security-Policy": policy,
    "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", ...more,
  }).end(body);
});
server.listen(Number(PORT), "127.0.0.1", () => {
  console.log(`ready on http://127.0.0.1:${server.address().port}`);
});
