/** One cause of an error, with the whole body that the gateway writes. */
export type ErrorExample = { readonly summary: string; readonly value: object }

/** An error status: its name in the document, its causes, and examples by name. */
export type ErrorKindDocument = {
  readonly name: string
  readonly description: string
  readonly examples: Readonly<Record<string, ErrorExample>>
}

/** Causes in both shapes. */
export const KEY = 'The key is missing, wrong, expired or revoked, or its tenant is suspended.'
export const FAULT = 'A fault of the gateway.'
export const CONTENTION = 'Contention. Retry after `Retry-After`.'
export const TOO_LARGE = 'The body is larger than 5 MiB.'
