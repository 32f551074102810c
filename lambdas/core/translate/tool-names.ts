/** A tool as its client names it. */
export type ToolName = {
  readonly name: string
  /** Of the Responses API. */
  readonly namespace?: string | undefined
  /** A custom tool takes a text; upstreams know it as a function with one parameter. */
  readonly isCustom?: boolean | undefined
}

/** What every upstream takes for the name of a function. */
const PLAIN = /^[A-Za-z0-9_-]{1,64}$/

const NAME_CHARACTERS_MAX = 64
const HASH_CHARACTERS = 8

/** FNV-1a, 32 bits, as hexadecimal digits. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(HASH_CHARACTERS, '0')
}

/** The names of the tools of one request, for an upstream and back. The same tools in the same order always get the same names. */
export class ToolNames {
  readonly #byUpstream = new Map<string, ToolName>()
  readonly #byOwn = new Map<string, string>()
  /** How many names were shortened to each beginning. */
  readonly #shortened = new Map<string, number>()

  /** The name for the upstream: with its namespace, and shortened where it is too long or taken. */
  upstreamOf(tool: ToolName): string {
    const own = `${tool.namespace ?? ''}\n${tool.name}`
    const known = this.#byOwn.get(own)
    if (known !== undefined) {
      return known
    }
    const name = this.#freeName(tool.namespace === undefined ? tool.name : `${tool.namespace}__${tool.name}`)
    this.#byOwn.set(own, name)
    this.#byUpstream.set(name, tool)
    return name
  }

  /** The tool that an upstream calls; one that nobody offered keeps its name. */
  toolOf(upstreamName: string): ToolName {
    return this.#byUpstream.get(upstreamName) ?? { name: upstreamName }
  }

  #freeName(full: string): string {
    if (PLAIN.test(full) && !this.#byUpstream.has(full)) {
      return full
    }
    const plain = full.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, NAME_CHARACTERS_MAX - HASH_CHARACTERS - 1)
    for (;;) {
      const count = this.#shortened.get(plain) ?? 0
      this.#shortened.set(plain, count + 1)
      const name = `${plain}_${hashOf(count === 0 ? full : `${count} ${full}`)}`
      if (!this.#byUpstream.has(name)) {
        return name
      }
    }
  }
}

/** What the Anthropic API takes for the id of a call. */
const PLAIN_ID = /^[A-Za-z0-9_-]{1,64}$/
const WRITTEN = 'rgid_'

/** The id of a call for the Anthropic API, from which {@link originalId} makes the original again. */
export function plainId(id: string): string {
  return PLAIN_ID.test(id) && !id.startsWith(WRITTEN) ? id : WRITTEN + Buffer.from(id).toString('base64url')
}

/** The id that {@link plainId} was made of. */
export function originalId(id: string): string {
  return id.startsWith(WRITTEN) ? Buffer.from(id.slice(WRITTEN.length), 'base64url').toString('utf8') : id
}
