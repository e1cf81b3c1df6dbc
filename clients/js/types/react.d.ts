/**
 * Has the hooks below it use a client.
 * @param {ProviderProps} props
 * @returns {import("react").ReactElement}
 */
export function PorchlightProvider({ client, connect, children }: ProviderProps): import("react").ReactElement;
/**
 * The client of the provider; undefined on a server, and before the first effect.
 * @returns {Porchlight | undefined}
 */
export function usePorchlight(): Porchlight | undefined;
/**
 * What is known of an account, `unknown` at first. The account is watched while a component shows
 * it, and only its changes draw the component again.
 * @param {string} account
 * @param {{ type?: number }} [options] `type`: 1 is presence; 100 to 65535 are the app's own
 * @returns {Presence}
 */
export function usePresence(account: string, options?: {
    type?: number | undefined;
} | undefined): Presence;
/**
 * The presence of the account itself, as others see it; undefined before the first login.
 * @returns {Presence | undefined}
 */
export function useMe(): Presence | undefined;
/**
 * Whether there is a session; `connecting` on a server. `usePorchlight().error` says why not.
 * @returns {Condition}
 */
export function useCondition(): Condition;
export type Porchlight = import("./porchlight.js").Porchlight;
export type Condition = import("./porchlight.js").Condition;
export type Presence = import("./topics.js").Presence;
export type ProviderProps = {
    /**
     * one that the app has connected, and closes
     */
    client?: import("./porchlight.js").Porchlight | null | undefined;
    /**
     * or how to connect: called once, in the browser only. The
     * client is closed with the provider. To connect as another account, give the provider another
     * `key`
     */
    connect?: (() => Porchlight) | undefined;
    /**
     * the components that use the hooks
     */
    children?: import("react").ReactNode;
};
