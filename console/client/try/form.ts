export async function openForm(_place: HTMLElement, _texts: Record<string, string>): Promise<void> {}
