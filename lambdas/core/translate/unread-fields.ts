import { pathOf } from '../allowed-fields.ts'
import { isJsonObject, type JsonObject } from '../json/parse-json-text.ts'

/**
 * What a translation reads of a request. `true`: the whole field, or a field that means nothing to any upstream. An object: some fields in
 * it. A function: nothing, and the function tells whether a value makes a difference.
 */
export type Reads = { readonly [name: string]: true | ((value: unknown) => boolean) | Reads }

/** For a field that makes no difference when it is false. */
export const isSet = (value: unknown): boolean => value !== false

/** A response header, and an error, name so many. */
const NAMES_MAX = 20

/** Longer names are cut. */
const NAME_CHARACTERS_MAX = 64

/**
 * The distinct paths of the fields of a request that a translation does not read, without indexes, such as `messages.content.cache_control`;
 * at most 20. A null counts as absent.
 */
export function unreadFields(body: JsonObject, reads: Reads): readonly string[] {
  const names = new Set<string>()
  visit(body, { reads, path: '', names })
  return [...names]
}

type Visit = { readonly reads: Reads; readonly path: string; readonly names: Set<string> }

function visit(value: unknown, { reads, path, names }: Visit): void {
  if (Array.isArray(value)) {
    for (const entry of value) {
      visit(entry, { reads, path, names })
    }
    return
  }
  for (const [name, inner] of isJsonObject(value) ? Object.entries(value) : []) {
    const read = Object.hasOwn(reads, name) ? reads[name] : isSomething
    const here = read === true ? path : pathOf(path, name.slice(0, NAME_CHARACTERS_MAX))
    if (typeof read === 'object') {
      visit(inner, { reads: read, path: here, names })
    } else if (typeof read === 'function' && names.size < NAMES_MAX && inner !== null && read(inner)) {
      names.add(here)
    }
  }
}

const isSomething = () => true

/** A description of fields that are read whole. */
export function whole<Name extends string>(...names: readonly Name[]) {
  return Object.fromEntries(names.map((name) => [name, true])) as Readonly<Record<Name, true>>
}
