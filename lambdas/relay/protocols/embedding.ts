import { allowedFields, keepAllowedFields } from '#core/allowed-fields.ts'
import { type EmbeddingInputs, type EncodingFormat, parseEmbeddingRequest } from '#core/api/embedding-request.ts'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { replaceFields } from '#core/json/json-fields.ts'
import { OPEN_BRACE, QUOTE } from '#core/json/json-scanner.ts'
import { parsedOrUndefined, parseJsonText } from '#core/json/parse-json-text.ts'
import type { Microcredits } from '#core/money.ts'
import { embeddingBilling } from '#core/pricing/relay-cost.ts'
import { readPromptTokens } from '#core/pricing/token-usage.ts'
import {
  type Edit,
  ELSEWHERE,
  ENTRY,
  editsWithCost,
  isList,
  LIST,
  type ReplyRules,
  ReplyScan,
  TOP,
  UNREAD,
} from '#core/relay/reply-scan.ts'
import { ScannedReply, type WholeReply } from '#core/relay/whole-reply.ts'
import { defineRelayRoute } from '../run-request.ts'

/** POST /v1/embeddings. The usage of a reply is its tokens, zero where the upstream reports none. */
export const embedding = defineRelayRoute<number>({
  operation: 'create-embedding',
  errors: OPENAI_ERRORS,
  read: (asked) => {
    const request = parseEmbeddingRequest(asked.json, asked)
    const { model, encodingFormat } = request
    const inputs = countInputs(request.inputs)
    return {
      model,
      facts: { inputs },
      calls: 1,
      billing: embeddingBilling(model, inputs, async () => {
        // Only embeddings need it, so cold starts do not load it.
        const { boundInputTokens } = await import('#upstream/tokens/bound-input-tokens.ts')
        return await boundInputTokens(request.inputs, { model })
      }),
      write: (_, { channel, upstreamModel }) => {
        const allowed = allowedFields('embeddings', channel.pass_members.embeddings)
        const { text, ignored } = keepAllowedFields(asked.text, allowed)
        const written = replaceFields(text, new Map([['model', JSON.stringify(upstreamModel)]]))
        return { path: '/embeddings', text: written, ignored }
      },
      reader: (_, rules) => new EmbeddingReplyReader({ ...rules, inputs, encodingFormat }),
      // Numbers may have to become base64, which takes the whole reply.
      large: { list: 'data', areRelayed: encodingFormat === 'float' },
    }
  },
})

function countInputs(inputs: EmbeddingInputs): number {
  return inputs.kind === 'texts' ? inputs.texts.length : inputs.counts.length
}

type Asked = ReplyRules & {
  /** How many inputs the request had. */
  readonly inputs: number
  readonly encodingFormat: EncodingFormat
}

/**
 * Turns an upstream's reply, read piece by piece, into the client's response: the public model id at the top level, one entry per input
 * in the order of the inputs, vectors in the requested encoding, nothing that is hidden. Every other byte stays; mostly only the model
 * changes.
 */
export class EmbeddingReplyReader extends ScannedReply<number, EmbeddingScan> {
  readonly #inputs: number

  constructor(asked: Asked) {
    super(new EmbeddingScan(asked))
    this.#inputs = asked.inputs
  }

  end(): WholeReply<number> {
    const { scan } = this
    const { list } = scan
    const fault = scan.isWhole ? scan.fault : (scan.fault ?? 'the reply is not a JSON object')
    if (fault !== undefined) {
      return { kind: 'unusable', reason: fault }
    }
    if (list.length !== this.#inputs) {
      return { kind: 'unusable', reason: `${list.length} entries for ${this.#inputs} inputs` }
    }
    const byIndex = new Map(list.map((entry) => [entry.index, entry]))
    const ordered = list.flatMap((_, index) => byIndex.get(index) ?? [])
    if (ordered.length !== list.length) {
      return { kind: 'unusable', reason: 'an input has no entry of its index' }
    }
    return {
      kind: 'reply',
      usage: readPromptTokens(parsedOrUndefined(scan.usage)),
      relayed: (cost) =>
        ordered.every((entry, index) => entry === list[index]) ? this.relayed(cost) : this.#placed(ordered, cost),
    }
  }

  /** Each place of an entry gets the entry that belongs there. */
  #placed(ordered: readonly Entry[], cost: Microcredits | undefined): readonly Uint8Array[] {
    const { pieces, scan } = this
    const edits = editsWithCost(scan.edits, cost)
    const { list } = scan
    const between = (start: number, end: number) =>
      pieces.edited(
        start,
        end,
        edits.filter((edit) => edit.start >= start && edit.end <= end),
      )
    const placed = ordered.flatMap((entry, index) => [
      ...between(list[index - 1]?.end ?? 0, list[index]?.start ?? 0),
      ...pieces.edited(entry.start, entry.end, entry.edits),
    ])
    return [...placed, ...between(list.at(-1)?.end ?? 0, pieces.length)]
  }
}

/** One element of `data`, the input that it belongs to, and the edits that it needs. */
type Entry = { readonly start: number; readonly end: number; readonly index: number; readonly edits: readonly Edit[] }

/** More than any vector that has to be read. */
const VECTOR_MAX = 1024 * 1024

const NO_NUMBERS = 'an embedding is not a list of numbers'
const NO_BASE64 = 'an embedding is not base64 of float32'

class EmbeddingScan extends ReplyScan {
  readonly list: Entry[] = []
  /** Why the reply is of no use; undefined if nothing was found so far. */
  fault: string | undefined
  readonly #asked: EncodingFormat
  #isListed = false
  #entryStart = 0
  #firstEdit = 0
  #index: number | undefined
  #hasVector = false
  #vectorStart = 0
  #format: EncodingFormat = 'float'

  constructor({ publicModel, hidden, encodingFormat }: Asked) {
    super({ hidden, modelJson: JSON.stringify(publicModel), list: 'data', addsModel: true })
    this.#asked = encodingFormat
  }

  get isWhole(): boolean {
    return this.isValid && this.isObject === true && this.markLength === 0
  }

  protected override begin(place: number, name: string, code: number): number {
    if (place === TOP && name === 'data') {
      this.#refuse(this.#isListed, 'the reply has data twice')
      this.#refuse(!isList(code), 'the data of the reply is not a list')
      this.#isListed = true
    } else if (place === LIST) {
      this.#refuse(code !== OPEN_BRACE, 'an entry is not an object')
      this.#beginEntry()
      return code === OPEN_BRACE ? ENTRY : ELSEWHERE
    } else if (place === ENTRY && name === 'embedding') {
      this.#beginVector(code)
      return UNREAD
    }
    return ELSEWHERE
  }

  protected override ended(place: number, name: string): void {
    if (place === LIST) {
      this.#endEntry()
    } else if (place === ENTRY && name === 'index') {
      const text = this.scanner.code <= 0x39 ? this.scanner.text : undefined
      this.#index = Number(text)
      this.#refuse(!Number.isInteger(this.#index), 'the index of an entry is not a whole number')
    } else if (place === ENTRY && name === 'embedding') {
      this.#endVector()
    }
  }

  #refuse(isFault: boolean, fault: string): void {
    if (isFault) {
      this.fault ??= fault
    }
  }

  #beginEntry(): void {
    this.#entryStart = this.scanner.start
    this.#firstEdit = this.edits.length
    this.#index = undefined
    this.#hasVector = false
  }

  #endEntry(): void {
    this.#refuse(!this.#hasVector, 'an entry has no embedding')
    const index = this.#index ?? this.list.length
    const start = this.#entryStart
    if (this.#index === undefined) {
      // An entry has an embedding, so a comma always follows.
      const addition = { start: start + 1, end: start + 1, replacement: `"index":${index},` }
      this.edits.splice(this.#firstEdit, 0, addition)
    }
    this.list.push({ start, end: this.scanner.end, index, edits: this.edits.slice(this.#firstEdit) })
  }

  #beginVector(code: number): void {
    this.#refuse(this.#hasVector, 'an entry has two embeddings')
    this.#refuse(!isList(code) && code !== QUOTE, NO_NUMBERS)
    this.#hasVector = true
    this.#vectorStart = this.scanner.start
    this.#format = isList(code) ? 'float' : 'base64'
    if (code === QUOTE || this.#asked === 'base64') {
      this.scanner.capture(VECTOR_MAX)
    }
  }

  /** Converts the vectors of an upstream that ignores `encoding_format`; nothing else of the entry changes. */
  #endVector(): void {
    const { scanner } = this
    const isNumbers = this.#format === 'float' && scanner.isNumbers
    this.#refuse(this.#format === 'float' && !isNumbers, NO_NUMBERS)
    if (this.#format === 'float' && this.#asked === 'float') {
      return
    }
    const text = scanner.endCapture()
    if (text === undefined || !scanner.isValid || this.fault !== undefined) {
      this.#refuse(text === undefined, 'an embedding is longer than any')
      return
    }
    const numbers = this.#format === 'float' ? numbersOf(text) : floatsOf(text)
    this.#refuse(numbers === undefined, this.#format === 'float' ? 'an embedding is beyond float32' : NO_BASE64)
    if (numbers !== undefined && this.#format !== this.#asked) {
      const written = this.#asked === 'base64' ? base64Of(numbers) : listOf(numbers)
      this.#refuse(written === undefined, NO_BASE64)
      this.edits.push({
        start: this.#vectorStart,
        end: scanner.end,
        replacement: ' ',
        bytes: Buffer.from(written ?? ''),
      })
    }
  }
}

/** Undefined for a number beyond the range of a float32: it would become infinity, which JSON does not have. */
function numbersOf(json: string): readonly number[] | undefined {
  const value: unknown = parseJsonText(json)
  const isFloat = (each: unknown): each is number => typeof each === 'number' && Number.isFinite(Math.fround(each))
  return Array.isArray(value) && value.every(isFloat) ? value : undefined
}

/** Standard base64 (RFC 4648, section 4), whose padding may be left out. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** The little-endian float32 in a JSON string of base64; undefined for any other. Some encoders of JSON write a slash with a backslash. */
function floatsOf(json: string): readonly number[] | undefined {
  const base64 = json.includes('\\') ? String(parseJsonText(json)) : json.slice(1, -1)
  const digits = base64.replace(/={1,2}$/, '').length
  if (!BASE64.test(base64) || digits % 4 === 1 || Math.floor((digits * 3) / 4) % 4 !== 0) {
    return undefined
  }
  const bytes = Uint8Array.from(Buffer.from(base64, 'base64'))
  return Array.from(new Float32Array(bytes.buffer))
}

/** Each number rounded as `Math.fround` does: what SDKs read for `encoding_format: base64`. */
function base64Of(numbers: readonly number[]): string {
  return `"${Buffer.from(Float32Array.from(numbers).buffer).toString('base64')}"`
}

/** Each float32 as the shortest decimal that equals it as a double; undefined where one is no number. */
function listOf(numbers: readonly number[]): string | undefined {
  // A negative zero has a sign, which String() leaves out.
  const texts = numbers.map((number) => (Object.is(number, -0) ? '-0.0' : String(number)))
  return numbers.every(Number.isFinite) ? `[${texts.join(',')}]` : undefined
}
