/** First and last byte, both included. */
type ByteRange = { readonly start: number; readonly end: number }

/** Parses a `Range` header. Returns `whole` without exactly one range, and undefined for an unsatisfiable one. */
export function parseByteRange(header: string | undefined, sizeBytes: number): ByteRange | 'whole' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  const [first, last] = [match?.[1] ?? '', match?.[2] ?? '']
  if (first === '' && last === '') {
    return 'whole'
  }
  if (first === '') {
    const start = Math.max(0, sizeBytes - Number(last))
    return Number(last) > 0 ? { start, end: sizeBytes - 1 } : undefined
  }
  const start = Number(first)
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  return start < sizeBytes && start <= end ? { start, end } : undefined
}
