// @ts-check
import {
  createContext, createElement, useCallback, useContext, useEffect, useMemo, useRef, useState,
  useSyncExternalStore,
} from "react";
import { follower, unknown } from "./follow.js";

/** @typedef {import("./porchlight.js").Porchlight} Porchlight */
/** @typedef {import("./porchlight.js").Condition} Condition */
/** @typedef {import("./topics.js").Presence} Presence */

/**
 * @typedef {object} ProviderProps
 * @property {Porchlight | null} [client] one that the app has connected, and closes
 * @property {() => Porchlight} [connect] or how to connect: called once, in the browser only. The
 *   client is closed with the provider. To connect as another account, give the provider another
 *   `key`
 * @property {import("react").ReactNode} [children] the components that use the hooks
 */

/** @type {import("react").Context<{ client?: Porchlight | null } | undefined>} */
const Context = createContext(/** @type {any} */ (undefined));

const nothing = () => {};

/**
 * A client that lives as long as the component. React's strict mode ends each effect once and begins
 * it again at once: that is not to be a logout.
 * @param {(() => Porchlight) | undefined} connect
 */
const useConnected = (connect) => {
  const [client, setClient] = useState(/** @type {Porchlight | undefined} */ (undefined));
  const kept = useRef(/** @type {{ client?: Porchlight, cancel: () => void }} */ (
    { cancel: nothing }));
  useEffect(() => {
    if (!connect) return;
    const { current } = kept;
    current.cancel();
    current.client ??= connect();
    setClient(current.client);
    return () => {
      const timer = setTimeout(() => {
        current.client?.close();
        current.client = undefined;
      });
      current.cancel = () => clearTimeout(timer);
    };
    // Once: a function that is written in place is a new one each time.
  }, []);
  return client;
};

/**
 * Has the hooks below it use a client.
 * @param {ProviderProps} props
 * @returns {import("react").ReactElement}
 */
export function PorchlightProvider({ client, connect, children }) {
  const connected = useConnected(connect);
  const used = client ?? connected;
  const value = useMemo(() => ({ client: used }), [used]);
  return createElement(Context.Provider, { value }, children);
}

/**
 * The client of the provider; undefined on a server, and before the first effect.
 * @returns {Porchlight | undefined}
 */
export function usePorchlight() {
  const value = useContext(Context);
  if (!value) throw new Error("There is no <PorchlightProvider> above this component.");
  return value.client ?? undefined;
}

/**
 * What is known of an account, `unknown` at first. The account is watched while a component shows
 * it, and only its changes draw the component again.
 * @param {string} account
 * @param {{ type?: number }} [options] `type`: 1 is presence; 100 to 65535 are the app's own
 * @returns {Presence}
 */
export function usePresence(account, options = {}) {
  const { type = 1 } = options;
  const client = usePorchlight();
  const follow = client && follower(client, type);
  const before = useMemo(() => unknown(account, type), [account, type]);
  const subscribe = useCallback(
    (/** @type {() => void} */ changed) => follow ? follow.add(account, changed) : nothing,
    [follow, account]);
  return useSyncExternalStore(subscribe, () => follow?.get(account) ?? before, () => before);
}

/**
 * @template Value
 * @param {(client: Porchlight | undefined) => Value} look
 * @returns {Value}
 */
const useLook = (look) => {
  const client = usePorchlight();
  const subscribe = useCallback((/** @type {() => void} */ changed) => {
    client?.addEventListener("change", changed);
    return () => client?.removeEventListener("change", changed);
  }, [client]);
  return useSyncExternalStore(subscribe, () => look(client), () => look(undefined));
};

/**
 * The presence of the account itself, as others see it; undefined before the first login.
 * @returns {Presence | undefined}
 */
export function useMe() {
  return useLook((client) => client?.me);
}

/**
 * Whether there is a session; `connecting` on a server. `usePorchlight().error` says why not.
 * @returns {Condition}
 */
export function useCondition() {
  return useLook((client) => client?.condition ?? "connecting");
}
