import { type FieldTree, fieldTree, type Hiding } from '../json/json-fields.ts'

/** The fields of an error and a refusal of an upstream that are shown if they are scalars. Anything else may name the upstream, or the operator's account there. */
const OF_ERRORS: ReadonlySet<string> = new Set(['message', 'type', 'param', 'code'])

/** Gateways upstream report who served a request under these names: beside the choices, in their messages, and in errors. */
const IDENTITY =
  /^(?:provider[_-]?(?:metadata|name)|provider_specific_fields|openrouter_metadata|custom_llm_provider|_?hidden_params|_response_headers)$/i

/** What an upstream says of its price, in a usage, in a reply, or in an entry of its lists. */
const PRICE = /cost|pric(?:e|ing)/i

/** `usage` as clients know it, and what other APIs call it. */
const USAGE = /^usages?(?:[_-]?metadata)?$/i

/** What is hidden in a value, by where it stands: the reply, its lists, an entry or its message, a usage, an error, or anything else. */
type Place = 'reply' | 'entries' | 'entry' | 'usage' | 'error' | 'anywhere'

/** The fields that are always hidden, at any depth, and the configured ones, which do not enter lists. */
class HiddenFields implements FieldTree {
  readonly #place: Place
  readonly #configured: FieldTree | undefined

  constructor(place: Place, configured?: FieldTree) {
    this.#place = place
    this.#configured = configured
  }

  get(name: string): Hiding {
    const configured = this.#configured?.get(name)
    if (configured === 'whole' || IDENTITY.test(name) || this.#isHiddenHere(name)) {
      return 'whole'
    }
    if (this.#place === 'error') {
      return 'unless scalar'
    }
    const place = this.#placeOf(name)
    return typeof configured === 'object' ? new HiddenFields(place, configured) : ALWAYS[place]
  }

  get inList(): FieldTree {
    return ALWAYS[this.#place === 'entries' ? 'entry' : this.#place]
  }

  #isHiddenHere(name: string): boolean {
    switch (this.#place) {
      case 'error':
        return !OF_ERRORS.has(name)
      case 'entry':
        return name === 'provider' || PRICE.test(name)
      case 'reply':
      case 'usage':
        return PRICE.test(name)
      default:
        return false
    }
  }

  #placeOf(name: string): Place {
    if (this.#place === 'usage') {
      return 'usage'
    }
    if (name === 'error') {
      return 'error'
    }
    if (USAGE.test(name)) {
      return 'usage'
    }
    if (this.#place === 'reply') {
      return name === 'choices' || name === 'data' ? 'entries' : 'anywhere'
    }
    return this.#place === 'entry' && (name === 'message' || name === 'delta') ? 'entry' : 'anywhere'
  }
}

const ALWAYS: Readonly<Record<Place, FieldTree>> = {
  reply: new HiddenFields('reply'),
  entries: new HiddenFields('entries'),
  entry: new HiddenFields('entry'),
  usage: new HiddenFields('usage'),
  error: new HiddenFields('error'),
  anywhere: new HiddenFields('anywhere'),
}

const made = new WeakMap<readonly string[], FieldTree>()

/** What no client sees of the replies of upstreams; made once for each configuration. */
export function hiddenFields({ hidden_members }: { readonly hidden_members: readonly string[] }): FieldTree {
  const hidden = made.get(hidden_members) ?? new HiddenFields('reply', fieldTree(hidden_members))
  made.set(hidden_members, hidden)
  return hidden
}

/** What no client sees of an event that may hold the reply in a field. @param hidden from {@link hiddenFields}. */
export function hiddenInEvent(hidden: FieldTree, field: string): FieldTree {
  return { get: (name) => (name === field ? hidden : hidden.get(name)) }
}

/**
 * What no client sees where an upstream refuses a request, or reports an error in a stream: all but an `error`, or the fields of one that
 * stand beside no other. @param hidden from {@link hiddenFields}.
 */
export function hiddenInRefusal(hidden: FieldTree): FieldTree {
  const tree: FieldTree = {
    get: (name) => {
      const shown = hidden.get(name)
      return shown === 'whole' || name === 'error' ? shown : OF_ERRORS.has(name) ? 'unless scalar' : 'whole'
    },
    get inList() {
      return tree
    },
  }
  return tree
}
