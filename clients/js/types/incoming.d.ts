/** The messages that were received and not taken. */
export class Incoming {
    /**
     * @param {Environment} environment
     * @param {Subscriber} subscriber knows how long to wait after an error
     * @param {Asking} request
     */
    constructor(environment: Environment, subscriber: Subscriber, request: Asking);
    /**
     * Each message once. It is taken when the next is asked for. The newest loop is given the
     * messages; those before it end. With `own` also what other sessions of the account have sent.
     * @param {boolean} own
     * @returns {AsyncGenerator<Message, void, void>}
     */
    messages(own: boolean): AsyncGenerator<Message, void, void>;
    /** @param {Message[]} messages */
    receive(messages: Readonly<MessageMembers>[]): void;
    /**
     * Other sessions of the account have sent these. What no loop wants is not kept.
     * @param {Message[]} sent
     */
    copy(sent: Readonly<MessageMembers>[]): void;
    /** The connection was lost: what was not taken is sent again. */
    lose(): void;
    /** Takes what was left behind, also if a request for an older one is not answered. */
    flush(): void;
    /** No more messages will follow. */
    end(): void;
    #private;
}
export type Environment = import("./connection.js").Environment;
export type Asking = import("./subscriber.js").Asking;
export type Subscriber = import("./subscriber.js").Subscriber;
export type MessageMembers = {
    /**
     * the same each time that the service sends the message
     */
    id: string;
    /**
     * the account that sent it; absent if the service did
     */
    from?: string | undefined;
    /**
     * its device; absent if an app server sent it
     */
    fromDevice?: string | undefined;
    /**
     * when it was sent, in milliseconds since 1970
     */
    time: number;
    /**
     * empty in some messages of XMPP clients, and in receipts
     */
    body: string;
    /**
     * for the app
     */
    ext?: string | undefined;
    /**
     * the sender's own name of the message
     */
    ref?: string | undefined;
    /**
     * the `stanzaId` of an own message that has arrived
     */
    receipt?: string | undefined;
    /**
     * of a message of an XMPP client: `chat` or `normal`
     */
    type?: string | undefined;
    /**
     * of the same: its id, for a receipt
     */
    stanzaId?: string | undefined;
    /**
     * of the same: its further elements
     */
    xml?: string | undefined;
    /**
     * another session of this account has sent it, or an app server for it
     */
    own?: true | undefined;
    /**
     * of an own message: the accounts that it is for
     */
    to?: string[] | undefined;
    /**
     * of an own message: the only device that it is for
     */
    device?: string | undefined;
};
/**
 * A message for the account.
 */
export type Message = Readonly<MessageMembers>;
