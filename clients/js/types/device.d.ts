export function device(account?: string | undefined): Promise<{
    name: string;
    release: () => void;
}>;
