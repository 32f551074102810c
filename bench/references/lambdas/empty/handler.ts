/** The least that a function can be. */
export async function handler(): Promise<void> {}
