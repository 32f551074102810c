import { JsonScan } from '../json/json-scan.ts'
import { type PassingFields, pathOf } from './passing-fields.ts'

/** A body of which only listed fields are left, and the paths of the others, none twice. */
export type PassedBody = { readonly text: string; readonly ignored: readonly string[] }

/** More names than a response header carries are not remembered. */
const IGNORED_MAX = 20

/** Enough of a name that a client made up to find it again. */
const NAME_CHARACTERS_MAX = 64

/**
 * Leaves out every field whose name is not on the list. Names are compared decoded and exactly: `"\u006dodel"` is `model`,
 * `Model` is not. Of a name written twice the last one passes, which is the one that was validated. Of a content part passes
 * what its type names, and what a channel adds. Every other byte stays.
 * Linear in the length of the text.
 * @param text one valid JSON object.
 */
export function keepPassingFields(text: string, passing: PassingFields): PassedBody {
  const ignored: IgnoredNames = new Map()
  const passed = passValue(new JsonScan(text), passing, ignored)
  const paths = [...ignored].flatMap(([path, names]) => Array.from(names, (name) => pathOf(path, name)))
  return { text: passed ?? text, ignored: paths.slice(0, IGNORED_MAX) }
}

/** By the path of the object that they stood in. */
type IgnoredNames = Map<string, Set<string>>

/** Goes behind the next value. @returns what is to stand in its place; undefined for the value as it is. */
function passValue(scan: JsonScan, passing: PassingFields | 'whole', ignored: IgnoredNames): string | undefined {
  const kind = scan.nextKind()
  if (passing === 'whole' || kind === 'other') {
    scan.skipValue()
    return undefined
  }
  return kind === 'object' ? passObject(scan, passing, ignored) : passList(scan, passing, ignored)
}

function passList(scan: JsonScan, passing: PassingFields, ignored: IgnoredNames): string | undefined {
  const pieces: string[] = []
  let writtenTo = scan.index
  scan.index += 1
  while (!scan.isOver()) {
    const start = scan.index
    const changed = passValue(scan, passing, ignored)
    if (changed !== undefined) {
      pieces.push(scan.text.slice(writtenTo, start), changed)
      writtenTo = scan.index
    }
    scan.skipComma()
  }
  return pieces.length === 0 ? undefined : pieces.join('') + scan.text.slice(writtenTo, scan.index)
}

/** Where a field that passes stands, from the end of what precedes it, and what its value becomes. */
type Kept = {
  readonly position: number
  readonly start: number
  readonly valueStart: number
  readonly end: number
  readonly changed: string | undefined
}

function passObject(scan: JsonScan, passing: PassingFields, ignored: IgnoredNames): string | undefined {
  const kept = new Map<string, Kept>()
  let isChanged = false
  scan.index += 1
  let start = scan.index
  let end = start
  for (let position = 0; !scan.isOver(); position += 1) {
    const name = scan.readName()
    const inner = passing.fields.get(name)
    const valueStart = scan.index
    const changed = passValue(scan, inner ?? 'whole', ignored)
    end = scan.index
    const isRepeated = kept.delete(name)
    if (inner === undefined || isRepeated) {
      ignore(ignored, passing.path, name)
    }
    if (inner !== undefined) {
      kept.set(name, { position, start, valueStart, end, changed })
    }
    isChanged ||= inner === undefined || isRepeated || changed !== undefined
    scan.skipComma()
    start = scan.index
  }
  for (const name of fieldsOfOtherTypes(scan.text, kept, passing)) {
    kept.delete(name)
    ignore(ignored, passing.path, name)
    isChanged = true
  }
  return isChanged ? writeObject(kept.values(), scan.text, scan.text.slice(end, scan.index)) : undefined
}

/** Fields that are there, and of another type than the object says to be. One without a type was refused before. */
function fieldsOfOtherTypes(text: string, kept: ReadonlyMap<string, Kept>, { ofType }: PassingFields): string[] {
  const type = kept.get('type')
  if (ofType === undefined || type === undefined) {
    return []
  }
  const named: unknown = JSON.parse(text.slice(type.valueStart, type.end))
  return [...ofType].filter((name) => name !== named && kept.has(name))
}

function writeObject(kept: Iterable<Kept>, text: string, closing: string): string {
  let written = '{'
  let previous: Kept | undefined
  for (const field of kept) {
    const { position, start, valueStart, end, changed } = field
    if (previous !== undefined) {
      written += position === previous.position + 1 ? text.slice(previous.end, start) : ','
    }
    written += changed === undefined ? text.slice(start, end) : text.slice(start, valueStart) + changed
    previous = field
  }
  return written + closing
}

function ignore(ignored: IgnoredNames, path: string, name: string): void {
  const names = ignored.get(path) ?? new Set()
  ignored.set(path, names)
  if (names.size < IGNORED_MAX) {
    names.add(name.slice(0, NAME_CHARACTERS_MAX))
  }
}
