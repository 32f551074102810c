import { findViolation, type LimitedReference, type Violation } from '#core/catalogue/references.ts'
import type { MediaFile } from '#upstream/guard/read-media-file.ts'

type ReadFile = (url: string, signal: AbortSignal) => Promise<MediaFile>

/** The first violation, and the references before it (without one, all references) that could not be read. */
type Checked = {
  readonly found: { readonly reference: LimitedReference; readonly violation: Violation } | undefined
  readonly unread: readonly { readonly place: string; readonly because: string }[]
}

/**
 * Reads the files of references in parallel, each url once, and finds the first reference, in the order of the request, that
 * breaks a limit. The result does not depend on which file arrives first: a violation stops only the reads of later
 * references, and earlier ones are awaited until `signal` aborts them all.
 */
export async function firstViolation(
  references: readonly LimitedReference[],
  readFile: ReadFile,
  signal: AbortSignal,
): Promise<Checked> {
  const readings = new Map<string, { firstIndex: number; stop: AbortController; file: Promise<MediaFile> }>()
  for (const [firstIndex, { url }] of references.entries()) {
    if (!readings.has(url)) {
      const stop = new AbortController()
      readings.set(url, { firstIndex, stop, file: readFile(url, AbortSignal.any([signal, stop.signal])) })
    }
  }
  const stopBehind = (index: number) => {
    for (const { firstIndex, stop } of readings.values()) {
      if (firstIndex > index) {
        stop.abort()
      }
    }
  }
  const checked = await Promise.all(
    references.map(async (reference, index) => {
      const { facts = {}, unreadBecause } = (await readings.get(reference.url)?.file) ?? {}
      const violation = findViolation(facts, reference.limits)
      if (violation !== undefined) {
        stopBehind(index)
      }
      return { reference, violation, unreadBecause }
    }),
  )
  return inOrder(checked)
}

type Read = {
  readonly reference: LimitedReference
  readonly violation: Violation | undefined
  readonly unreadBecause: string | undefined
}

/** Drops the references after the first violation: whether they were still read is chance. */
function inOrder(checked: readonly Read[]): Checked {
  const index = checked.findIndex(({ violation }) => violation !== undefined)
  const upToIt = index < 0 ? checked : checked.slice(0, index + 1)
  const { reference, violation } = checked[index] ?? {}
  return {
    found: reference && violation && { reference, violation },
    unread: upToIt.flatMap(({ reference: { place }, unreadBecause }) =>
      unreadBecause === undefined ? [] : [{ place, because: unreadBecause }],
    ),
  }
}
