/**
 * Tells SDKs, which try 408, 409, 429 and 5xx again by themselves, that a second try could be billed too (the header is
 * that of the `openai` packages, for node and for python).
 */
export const DO_NOT_RETRY = { 'x-should-retry': 'false' } as const
