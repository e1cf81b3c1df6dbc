/**
 * Whether the same request may succeed later.
 * @param {PorchlightError} error
 */
export function isTransient({ code }: PorchlightError): boolean;
/** Why a call is rejected that waited for longer than its effect was to last. */
export function expired(): PorchlightError;
/** Why a request was rejected, or why a connection or a session ended. */
export class PorchlightError extends Error {
    /**
     * @param {string} message a sentence for people, which may change
     * @param {string} reason a word for programs: a `reason` of the protocol, or `lost`, `timeout`,
     *   `asleep`, `token`, `other_account`, `too_long`, `invalid_text`, `transport`, `expired`,
     *   `closed`, `signed_out`, `push_denied`, `push_unavailable`
     * @param {number} [code] the code of the protocol: of an error, or of a close
     * @param {Record<string, any>} [data] the other members: `retryAfter`, `limit`, `field` ...
     * @param {unknown} [cause] the error of the runtime or of the app, if that is why
     */
    constructor(message: string, reason: string, code?: number | undefined, data?: Record<string, any> | undefined, cause?: unknown);
    /**
     * A word for programs, such as `lost`, `kicked` or `rate_limited`.
     * @readonly
     */
    readonly reason: string;
    /**
     * The code of the protocol: of an error, or of a close (from 4400 up).
     * @readonly
     */
    readonly code: number | undefined;
    /**
     * The other members of the error: `retryAfter`, `limit`, `field` ...
     * @readonly
     */
    readonly data: Record<string, any>;
}
/** The reason of `SignedOut`. */
export const SIGNED_OUT: "signed_out";
/** What `token()` throws if there will be no further token, because the user has signed out. */
export class SignedOut extends PorchlightError {
    /** @param {string} [message] a sentence for people */
    constructor(message?: string | undefined);
}
