/** A rough average of common tokenizers. */
const BYTES_PER_TOKEN = 4

/** Estimates the tokens of a text by its length, rounded up. */
export function tokensByLength(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}
