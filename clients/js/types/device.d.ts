export function device(): Promise<{
    name: string;
    release: () => void;
}>;
