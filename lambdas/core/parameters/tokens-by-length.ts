/** Bytes of text for one token, roughly. */
const BYTES_PER_TOKEN = 4

/** An estimate of the tokens in a text whose tokens nobody has counted: one for every four bytes, rounded up. */
export function tokensByLength(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}
