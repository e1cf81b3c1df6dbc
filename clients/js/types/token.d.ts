export function subject(token: string | undefined): string | undefined;
