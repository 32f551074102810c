import { type FieldTree, fieldTree } from '../json/json-fields.ts'

/** What an error and a refusal of an upstream show. Other fields may name the upstream, or the operator's account there. */
const OF_ERRORS: ReadonlySet<string> = new Set(['message', 'type', 'param', 'code'])

/** Gateways upstream report who served a request, and for how much, under these names: beside the choices, and in their messages. */
const METADATA: ReadonlySet<string> = new Set(['provider_metadata', 'providerMetadata'])

/** In a usage, what an upstream says of its price, under whatever name. */
const PRICE = /cost|price/i

/** What a value has that has anything to hide where no field is configured. Any letter of a name may be escaped. */
const SIGNS = [...METADATA, '"usage"', '"error"', '\\u00']

/** What is hidden in a value, by where it stands. */
type Place = 'anywhere' | 'usage' | 'error'

/** The fields that are always hidden, at any depth, and the configured ones, which do not enter lists. */
class HiddenFields implements FieldTree {
  readonly #place: Place
  readonly #configured: FieldTree | undefined

  constructor(place: Place, configured?: FieldTree) {
    this.#place = place
    this.#configured = configured
  }

  get(name: string): FieldTree | 'whole' {
    const configured = this.#configured?.get(name)
    if (configured === 'whole' || METADATA.has(name) || this.#isHiddenHere(name)) {
      return 'whole'
    }
    const place = this.#place === 'anywhere' && (name === 'usage' || name === 'error') ? name : this.#place
    return configured === undefined ? ALWAYS[place] : new HiddenFields(place, configured)
  }

  get inList(): FieldTree {
    return ALWAYS[this.#place]
  }

  get signs(): readonly string[] | undefined {
    return this.#place === 'anywhere' && this.#configured === undefined ? SIGNS : undefined
  }

  #isHiddenHere(name: string): boolean {
    return this.#place === 'usage' ? PRICE.test(name) : this.#place === 'error' && !OF_ERRORS.has(name)
  }
}

const ALWAYS: Readonly<Record<Place, FieldTree>> = {
  anywhere: new HiddenFields('anywhere'),
  usage: new HiddenFields('usage'),
  error: new HiddenFields('error'),
}

const made = new WeakMap<readonly string[], FieldTree>()

/** What no client sees of the replies of upstreams; made once for each configuration. */
export function hiddenFields({ hidden_members }: { readonly hidden_members: readonly string[] }): FieldTree {
  const hidden = made.get(hidden_members) ?? new HiddenFields('anywhere', fieldTree(hidden_members))
  made.set(hidden_members, hidden)
  return hidden
}

/**
 * What no client sees where an upstream refuses a request, or reports an error in a stream: all but an `error`, or the fields of one that
 * stand beside no other. @param hidden from {@link hiddenFields}.
 */
export function hiddenInRefusal(hidden: FieldTree): FieldTree {
  const tree: FieldTree = {
    get: (name) => {
      const shown = hidden.get(name)
      return shown === 'whole' || name === 'error' ? shown : OF_ERRORS.has(name) ? ALWAYS.error : 'whole'
    },
    get inList() {
      return tree
    },
  }
  return tree
}
