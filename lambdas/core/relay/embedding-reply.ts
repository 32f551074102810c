import type { EncodingFormat } from '../api/embedding-request.ts'
import type { Microcredits } from '../money.ts'
import { tokenCount } from '../pricing/token-usage.ts'
import { type EmbeddingEntry, entryPieces, readEntry } from './embedding-entry.ts'
import { readValue, UnexpectedJsonError, walkElements, walkReply } from './json-bytes.ts'
import type { ReplyRules } from './reply-members.ts'
import { applyEdits, type Edit, type ReplyPieces } from './reply-pieces.ts'
import { TopLevelEdits } from './top-level-edits.ts'

/** How an upstream's 2xx reply to an embedding request is used. */
export type EmbeddingReply =
  | {
      readonly kind: 'answer'
      /** Tokens that the upstream bills; undefined when it reports no plausible number. */
      readonly promptTokens: number | undefined
      /** What the client gets. @param cost shown in the usage; undefined for none. */
      readonly relayed: (cost: Microcredits | undefined) => ReplyPieces
    }
  /** A failure of the upstream. `reason` is for the log and holds nothing of the reply. */
  | { readonly kind: 'unusable'; readonly reason: string }

type Asked = ReplyRules & {
  /** How many inputs the request had. */
  readonly inputs: number
  readonly encodingFormat: EncodingFormat
}

/**
 * Turns an upstream's reply into the client's response: the public model id at the top level, one entry per input in the
 * order of the inputs, vectors in the requested encoding, nothing that is hidden. Every other byte stays; mostly only the model
 * changes.
 * @param bytes the whole reply.
 */
export function readEmbeddingReply(bytes: Uint8Array, asked: Asked): EmbeddingReply {
  try {
    const { entries, topLevel, promptTokens } = walkEmbeddings(bytes, asked)
    const vectors = entryEdits(bytes, orderOf(entries, asked.inputs))
    const relayed = (cost: Microcredits | undefined) => applyEdits(bytes, [...topLevel.edits(cost), ...vectors])
    return { kind: 'answer', promptTokens, relayed }
  } catch (error) {
    if (error instanceof UnexpectedJsonError) {
      return { kind: 'unusable', reason: error.message }
    }
    throw error
  }
}

type Walked = {
  readonly entries: readonly EmbeddingEntry[]
  readonly topLevel: TopLevelEdits
  readonly promptTokens: number | undefined
}

function walkEmbeddings(bytes: Uint8Array, { encodingFormat, ...rules }: Asked): Walked {
  const topLevel = new TopLevelEdits(bytes, rules)
  let entries: EmbeddingEntry[] | undefined
  let promptTokens: number | undefined
  walkReply(bytes, (name, start) => {
    if (name === 'data') {
      if (entries !== undefined) {
        throw new UnexpectedJsonError('the answer has data twice')
      }
      const list: EmbeddingEntry[] = []
      entries = list
      const listEnd = walkElements(bytes, start, (entryStart) => {
        const entry = readEntry(bytes, entryStart, {
          position: list.length,
          encodingFormat,
          hidden: rules.hidden.inList,
        })
        list.push(entry)
        return entry.end
      })
      topLevel.listOfCaller(listEnd)
      return listEnd
    }
    const { value, end } = readValue(bytes, start)
    if (name === 'usage') {
      promptTokens = readPromptTokens(value)
    }
    topLevel.field(name, start, end)
    return end
  })
  topLevel.addMissingModel()
  return { entries: entries ?? [], topLevel, promptTokens }
}

/**
 * The tokens of a `usage`; undefined for no plausible number. An embedding has no output, so the total is the prompt. No
 * input is empty, so zero tokens mean that the upstream left them out.
 */
export function readPromptTokens(usage: unknown): number | undefined {
  if (typeof usage !== 'object' || usage === null) {
    return undefined
  }
  const { prompt_tokens, total_tokens }: Readonly<Record<string, unknown>> = { ...usage }
  return tokenCount(prompt_tokens) || tokenCount(total_tokens) || undefined
}

/** For each position in `data`, the entry that stands there and the entry that belongs there. */
type Placed = { readonly slot: EmbeddingEntry; readonly entry: EmbeddingEntry }

function orderOf(entries: readonly EmbeddingEntry[], inputs: number): Placed[] {
  if (entries.length !== inputs) {
    throw new UnexpectedJsonError(`${entries.length} entries for ${inputs} inputs`)
  }
  const byIndex = new Map(entries.map((entry) => [entry.index, entry]))
  return entries.map((slot, index) => {
    const entry = byIndex.get(index)
    if (entry === undefined) {
      throw new UnexpectedJsonError('an input has no entry of its index')
    }
    return { slot, entry }
  })
}

function entryEdits(bytes: Uint8Array, order: readonly Placed[]): Edit[] {
  return order
    .filter(({ slot, entry }) => slot !== entry || entry.edits.length > 0)
    .map(({ slot, entry }) => ({ start: slot.start, end: slot.end, replacement: entryPieces(bytes, entry) }))
}
