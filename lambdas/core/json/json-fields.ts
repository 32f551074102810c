import { CLOSE, JsonScanner, MORE, NAME, OPEN, SCALAR } from './json-scanner.ts'
import { parseJsonObject } from './parse-json-text.ts'

/** A top-level field of a JSON object, and where its value is: from `valueStart` up to, not including, `valueEnd`. */
export type FieldSpan = { readonly name: string; readonly valueStart: number; readonly valueEnd: number }

/** A JSON number as its text, so that `5.04` reaches the client exactly as computed. */
export type RawNumber = { readonly rawJson: string }

type InjectedValue = string | number | boolean | null | RawNumber

/** Values to inject, by name; all injected fields of the interface are scalars. Undefined values are left out. */
export type InjectedFields = Readonly<Record<string, InjectedValue | undefined>>

/** An injected value is a number that is not finite, or a raw number that is not a JSON number. */
export class InvalidInjectedValueError extends Error {
  override readonly name = 'InvalidInjectedValueError'
}

/**
 * Finds the top-level fields of the JSON object that a text begins with, perhaps after white space. Names are decoded: `"\u0069d"` is `id`.
 * Of a text that breaks off, it finds the fields whose values are complete.
 */
export function topLevelFields(json: string): FieldSpan[] {
  const scanner = new JsonScanner(json)
  const fields: FieldSpan[] = []
  let name = ''
  let last: FieldSpan | undefined
  scanner.next()
  for (let token = scanner.next(); token !== MORE; token = scanner.next()) {
    if (token === NAME || token === CLOSE) {
      name = scanner.name
      if (last !== undefined) {
        fields.push(last)
        last = undefined
      }
    } else {
      const valueStart = scanner.start
      if (token === OPEN) {
        scanner.skip()
      }
      last = token === SCALAR || scanner.next() === CLOSE ? { name, valueStart, valueEnd: scanner.end } : undefined
    }
  }
  return fields
}

/**
 * Replaces the values of top-level fields, in each occurrence of a name, and appends the fields that are missing.
 * @param json a JSON object.
 * @param fields JSON texts by name.
 */
export function replaceFields(json: string, fields: ReadonlyMap<string, string>): string {
  const missing = new Map(fields)
  const pieces: string[] = []
  let keptFrom = 0
  let objectEnd = json.indexOf('{') + 1
  let separator = ''
  for (const { name, valueStart, valueEnd } of topLevelFields(json)) {
    separator = ','
    objectEnd = valueEnd
    const value = fields.get(name)
    if (value !== undefined) {
      pieces.push(json.slice(keptFrom, valueStart), value)
      keptFrom = valueEnd
      missing.delete(name)
    }
  }
  const appended = Array.from(missing, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')
  pieces.push(json.slice(keptFrom, objectEnd), appended === '' ? '' : separator + appended, json.slice(objectEnd))
  return pieces.join('')
}

/**
 * Removes top-level fields, in each occurrence of a name; every other byte stays.
 * @param json a JSON object.
 */
export function withoutFields(json: string, names: ReadonlySet<string>): string {
  let keptTo = json.indexOf('{') + 1
  const kept: string[] = []
  const head = json.slice(0, keptTo)
  for (const { name, valueEnd } of topLevelFields(json)) {
    const field = json.slice(keptTo, valueEnd)
    keptTo = valueEnd
    if (!names.has(name)) {
      kept.push(kept.length === 0 ? field.replace(/^\s*,/, '') : field)
    }
  }
  return head + kept.join('') + json.slice(keptTo)
}

/** The first name that two top-level fields share; undefined if there is none. Parsers disagree about such an object. */
export function repeatedField(json: string): string | undefined {
  const seen = new Set<string>()
  for (const { name } of topLevelFields(json)) {
    if (seen.has(name)) {
      return name
    }
    seen.add(name)
  }
  return undefined
}

/**
 * Writes the injected fields into an upstream's reply and leaves every other byte as it is: a field of the same name gets the
 * injected value in its place, and new fields follow the last one. So `5.0`, integers above 2^53, key order, escapes and white
 * space reach the client unchanged. A text that is not one JSON object yields the injected fields alone. Takes linear time.
 * @throws InvalidInjectedValueError for an injected number without a JSON form; never because of the upstream.
 */
export function spliceInjected(upstreamText: string | undefined, injected: InjectedFields): string {
  const fields = encodeFields(injected)
  const isObject = upstreamText !== undefined && parseJsonObject(upstreamText) !== undefined
  return replaceFields(isObject ? upstreamText : '{}', fields)
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function encodeFields(injected: InjectedFields): Map<string, string> {
  const encoded = new Map<string, string>()
  for (const [name, value] of Object.entries(injected)) {
    if (value !== undefined) {
      encoded.set(name, encodeValue(name, value))
    }
  }
  return encoded
}

function encodeValue(name: string, value: InjectedValue): string {
  const text = typeof value === 'object' && value !== null ? value.rawJson : JSON.stringify(value)
  const isNumber = typeof value === 'number' || (typeof value === 'object' && value !== null)
  if (isNumber && !JSON_NUMBER.test(text)) {
    throw new InvalidInjectedValueError(`"${name}" is not a JSON number`)
  }
  return text
}

/** What is hidden of a field: all of it, its value if that is an object or a list, or some fields of the object that is its value. */
export type Hiding = 'whole' | 'unless scalar' | FieldTree

/** Fields by name. */
export type FieldTree = {
  get(name: string): Hiding | undefined
  /** Of the elements of a list. Without it, lists are not entered. */
  readonly inList?: FieldTree
}

type GrowingTree = Map<string, GrowingTree | 'whole'>

/** The tree of dotted paths, such as `usage.cost`. A path whose beginning is listed too adds nothing. */
export function fieldTree(paths: readonly string[]): FieldTree {
  const tree: GrowingTree = new Map()
  for (const path of paths) {
    add(tree, path.split('.'))
  }
  return tree
}

function add(tree: GrowingTree, [name = '', ...inner]: readonly string[]): void {
  const known = tree.get(name)
  if (inner.length === 0 || known === 'whole') {
    tree.set(name, 'whole')
    return
  }
  const subtree: GrowingTree = known ?? new Map()
  tree.set(name, subtree)
  add(subtree, inner)
}
