export function subscribe(key: () => Promise<string | undefined>): Promise<string>;
export function unsubscribe(): Promise<void>;
