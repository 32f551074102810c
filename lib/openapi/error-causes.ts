/** One cause of an error: when it comes, and its whole body as the gateway writes it. */
export type ErrorExample = { readonly summary: string; readonly value: object }

/** An error status: its name in the document, when it comes, and examples by name. */
export type ErrorKindDocument = {
  readonly name: string
  readonly description: string
  readonly examples: Readonly<Record<string, ErrorExample>>
}

/** Causes that both shapes have. */
export const KEY = 'The key is missing, wrong, expired or revoked, or its tenant is suspended.'
export const FAULT = 'A fault of the gateway.'
export const CONTENTION = 'Contention: try again after `Retry-After`.'
export const TOO_LARGE = 'The body is above 5 MiB.'
