/** Some bytes of a file, and where in the file they lie. A header is read from few of these, without the rest of the file. */
export type FileWindow = { readonly offset: number; readonly bytes: Uint8Array }

/** Bytes of a file that would tell more. */
export type WantedBytes = { readonly offset: number; readonly length: number }

/** The bytes from `offset` on, as many as one window holds, at most `length`. Undefined where no window begins to cover them. */
export function bytesFrom(windows: readonly FileWindow[], offset: number, length: number): Uint8Array | undefined {
  const found = windows
    .filter((window) => window.offset <= offset && offset < window.offset + window.bytes.length)
    .map((window) => window.bytes.subarray(offset - window.offset, offset - window.offset + length))
  return found.toSorted((left, right) => right.length - left.length)[0]
}

/** Exactly these bytes, or undefined when no single window holds them all. */
export function bytesAt(windows: readonly FileWindow[], { offset, length }: WantedBytes): Uint8Array | undefined {
  const bytes = bytesFrom(windows, offset, length)
  return bytes?.length === length ? bytes : undefined
}
