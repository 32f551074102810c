import { JsonScan } from '../json/json-scan.ts'
import { parseJsonText } from '../json/parse-json-text.ts'
import { type PassingFields, pathOf } from './passing-fields.ts'

/** A body reduced to the listed fields, and the distinct paths of the removed fields. */
export type PassedBody = { readonly text: string; readonly ignored: readonly string[] }

/** Most paths that are kept; a response header holds no more. */
const IGNORED_MAX = 20

/** Longer names are cut. */
const NAME_CHARACTERS_MAX = 64

/**
 * Removes every field that is not on the list. Names are decoded and must match exactly: `"\u006dodel"` is `model`, `Model` is
 * not. Of a repeated name the last one passes, which is the one that was validated. Of a content part, the field that its type
 * names and the fields that a channel adds pass. Every other byte stays. Takes linear time.
 * @param text a valid JSON object.
 */
export function keepPassingFields(text: string, passing: PassingFields): PassedBody {
  const ignored: IgnoredNames = new Map()
  const passed = passValue(new JsonScan(text), passing, ignored)
  const paths = [...ignored].flatMap(([path, names]) => Array.from(names, (name) => pathOf(path, name)))
  return { text: passed ?? text, ignored: paths.slice(0, IGNORED_MAX) }
}

/** By the path of their object. */
type IgnoredNames = Map<string, Set<string>>

/** Moves past the next value. @returns its replacement; undefined for an unchanged value. */
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

/** The place of a field that passes, from the end of the text before it, and the replacement of its value. */
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

/** Fields of a content part that belong to another type. Validation has refused a part without a type. */
function fieldsOfOtherTypes(text: string, kept: ReadonlyMap<string, Kept>, { ofType }: PassingFields): string[] {
  const type = kept.get('type')
  if (ofType === undefined || type === undefined) {
    return []
  }
  const named: unknown = parseJsonText(text.slice(type.valueStart, type.end))
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
