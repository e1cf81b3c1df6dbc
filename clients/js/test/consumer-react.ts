// How an app uses porchlight/react: checked with React's own types, not run.
import { createElement, StrictMode } from "react";
import { connect } from "porchlight";
import type { Condition, Porchlight, Presence } from "porchlight";
import {
  PorchlightProvider, useCondition, useMe, usePorchlight, usePresence,
} from "porchlight/react";

export function Dot({ account }: { account: string }) {
  const presence: Presence = usePresence(account);
  const song: Presence = usePresence(account, { type: 100 });
  const me: Presence | undefined = useMe();
  const condition: Condition = useCondition();
  const porchlight: Porchlight | undefined = usePorchlight();
  // @ts-expect-error An account is a text.
  usePresence(5);
  // @ts-expect-error There may be no client yet.
  porchlight.close();
  return createElement("i", { className: presence.is }, song.status?.text, me?.is, condition);
}

const dot = createElement(Dot, { account: "bob" });
const client = connect("wss://presence.example.com", { account: "alice" });
export const pages = createElement(StrictMode, null,
  createElement(PorchlightProvider, { client }, dot),
  createElement(PorchlightProvider, { client: null, children: dot }),
  createElement(PorchlightProvider,
    { connect: () => connect("wss://presence.example.com", { account: "alice" }) }, dot),
  // @ts-expect-error A client is not a URL.
  createElement(PorchlightProvider, { client: "wss://presence.example.com" }, dot));
