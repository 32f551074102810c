/** Keeps browsers from taking a response for another type than its own, such as words of a client or of an upstream for a page. */
export const NO_SNIFFING = { 'x-content-type-options': 'nosniff' } as const
