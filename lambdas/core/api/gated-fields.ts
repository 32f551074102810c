import { BOUNDING_FIELDS, folded, GATED_FIELDS } from '../allowed-fields.ts'
import { InvalidRequestError } from '../errors.ts'
import type { JsonObject } from '../json/parse-json-text.ts'

/** Whoever runs a tool: the client, or the upstream, which may bill more than tokens for it. */
export type ToolKind = 'client' | 'web_search' | 'hosted'

/** A tool that a request offers: its type, or the empty string for a function of the Anthropic API. */
export type OfferedTool = { readonly type: string; readonly kind: ToolKind; readonly path: string }

/** A tool in the form of chats, which other APIs write without the object. */
export const NO_FUNCTION = 'a function has its name and its schema beside each other here, not in an object `function`'

/** What may be in a request of an agent that costs or reroutes beyond the tokens of its model. */
export type Gated = {
  /** Top-level fields, as the client wrote them. */
  readonly fields: readonly string[]
  readonly tools: readonly OfferedTool[]
  /** The type of a tool of the upstream that the client chose. */
  readonly chosenType: string | undefined
}

/** What a channel passes of that, from `pass_members`. */
export type Passed = readonly string[]

/**
 * The top-level fields that do not pass by themselves.
 * @param own the bounding fields of this API: the others would ask a lenient upstream for more than is reserved.
 * @throws InvalidRequestError for a name that an upstream may take for a bounding field.
 */
export function gatedFields(body: JsonObject, own: readonly string[]): readonly string[] {
  return Object.keys(body).filter((name) => {
    const taken = BOUNDING_FIELDS.find((known) => folded(known) === folded(name))
    if (taken !== undefined && taken !== name) {
      const message = `an upstream that ignores case and underscores reads this field as ${taken}: correct its name or leave it out`
      throw new InvalidRequestError([{ path: name.slice(0, 64), message }])
    }
    return taken === undefined ? isGated(name) : !own.includes(taken)
  })
}

function isGated(name: string): boolean {
  return GATED_FIELDS.some((known) => folded(known) === folded(name))
}

function passesTool(passed: Passed, type: string): boolean {
  return passed.some((entry) => {
    const name = entry.startsWith('tools.') ? entry.slice('tools.'.length) : undefined
    return name !== undefined && (type === name || type.startsWith(`${name}_`))
  })
}

/** Whether a channel can serve a request: it needs every tool of the upstream that the request cannot do without. */
export function passesAll({ tools, chosenType }: Gated, passed: Passed): boolean {
  return neededTypes(tools, chosenType).every((type) => passesTool(passed, type))
}

/** A search of the web is left out where other tools are offered, unless it was chosen. */
function neededTypes(tools: readonly OfferedTool[], chosenType: string | undefined): readonly string[] {
  const isAlone = tools.every(({ kind }) => kind !== 'client')
  const needed = tools.filter(({ kind }) => kind === 'hosted' || (kind === 'web_search' && isAlone))
  return [...needed.map(({ type }) => type), ...(chosenType === undefined ? [] : [chosenType])]
}

/** @throws InvalidRequestError naming the tool that no channel of the model passes. */
export function refuseHostedTools({ tools, chosenType }: Gated, channels: readonly Passed[]): void {
  const refused = neededTypes(tools, chosenType).find((type) => !channels.some((passed) => passesTool(passed, type)))
  if (refused !== undefined) {
    const path = tools.find(({ type, kind }) => type === refused && kind !== 'client')?.path ?? 'tool_choice'
    const message =
      refused === 'function'
        ? NO_FUNCTION
        : `tools of the type ${refused.slice(0, 64)} are not supported, because an upstream would run them: check the spelling, or use functions`
    throw new InvalidRequestError([{ path: chosenType === refused ? 'tool_choice' : path, message }])
  }
}

/** What a channel does not get of a request: fields, and types of tools. */
export type LeftOut = { readonly fields: readonly string[]; readonly toolTypes: ReadonlySet<string> }

/** What a channel does not get, and the names of it for the client. */
export function leftOutOf({ fields, tools }: Gated, passed: Passed): LeftOut & { readonly names: readonly string[] } {
  const kept = fields.filter((name) => !passed.includes(name))
  const types = tools.filter(({ type, kind }) => kind !== 'client' && !passesTool(passed, type)).map(({ type }) => type)
  const toolTypes = new Set(types)
  return { fields: kept, toolTypes, names: [...kept, ...Array.from(toolTypes, (type) => `tools.${type}`)] }
}
