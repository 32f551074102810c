/**
 * Stops SDKs, which retry 408, 409, 429 and 5xx, from a retry that could be billed twice. The `openai` packages for Node and
 * Python read this header.
 */
export const DO_NOT_RETRY = { 'x-should-retry': 'false' } as const
