import { describe, expect, it } from '@jest/globals'
import type { ErrorForm } from '#core/api/error-form.ts'
import { ModelNotFoundError, UpstreamFailedError } from '#core/errors.ts'
import type { FieldTree } from '#core/json/json-fields.ts'
import { OPEN_BRACE } from '#core/json/json-scanner.ts'
import { parsedOrUndefined } from '#core/json/parse-json-text.ts'
import type { Microcredits } from '#core/money.ts'
import { tokenBilling } from '#core/pricing/relay-cost.ts'
import { readTokenUsage, type TokenCounts, tokenCounts, tokensByLength } from '#core/pricing/token-usage.ts'
import { EventStream, type StreamRules } from '#core/relay/event-stream.ts'
import { ELSEWHERE, editsWithCost, type ReplyRules, ReplyScan, TOP } from '#core/relay/reply-scan.ts'
import { editEvent, type SseEvent } from '#core/relay/sse-events.ts'
import { ScannedReply, type WholeReply } from '#core/relay/whole-reply.ts'
import { defineRelayRoute } from '#lambdas/relay/run-request.ts'
import { fakeExchange } from './fake-exchange.ts'
import { FakeResponse } from './fake-response.ts'
import { type FakedRequest, MODEL, startRequest } from './faked-request.ts'

/*
 * A protocol that no route has, made by CONTRIBUTING.md, "Add a relayed protocol": its events have names, its first event holds
 * the reply in a field, its usage comes in two parts, and its errors look like nobody else's.
 */

const NOTE_ERRORS: ErrorForm = {
  body: ({ statusCode, message }) => ({ type: 'fault', fault: { status: statusCode, message } }),
  event: (body) => `event: fault\ndata: ${JSON.stringify(body)}\n\n`,
}

const notes = defineRelayRoute<TokenCounts>({
  operation: 'create-note',
  errors: NOTE_ERRORS,
  read: ({ json, bodyBytes, catalogue, allowedModels }) => {
    const { model: id, messages, stream, max_tokens: outputTokensMax, ...others } = json as NoteBody
    const model = catalogue.findRelayModel(id, { kind: 'chat', allowed: allowedModels })
    if (model === undefined) {
      throw new ModelNotFoundError(id)
    }
    const promptTokensEstimate = tokensByLength(bodyBytes)
    const call = { promptTokensMax: bodyBytes, promptTokensEstimate, outputTokensMax, choices: 1 }
    return {
      model,
      facts: { stream },
      calls: 1,
      billing: tokenBilling(model, [call], { name: 'max_tokens' }),
      write: (_, { upstreamModel }) => ({
        path: '/notes',
        text: JSON.stringify({ model: upstreamModel, messages, stream, max_tokens: outputTokensMax }),
        ignored: Object.keys(others),
      }),
      reader: (_, rules) => new NoteReader(rules),
      large: { list: 'words', areRelayed: true },
      streaming: stream ? { open: (_, rules) => new NoteStream(rules) } : undefined,
    }
  },
})

type NoteBody = {
  readonly model: string
  readonly messages: readonly object[]
  readonly stream: boolean
  readonly max_tokens: number
}

/** Reads `{type, note: {model, usage}}`, or the same without the envelope. */
class NoteScan extends ReplyScan {
  type = ''
  textBytes = 0

  constructor({ publicModel, hidden }: ReplyRules) {
    const inEvent: FieldTree = { get: (name) => (name === 'note' ? hidden : hidden.get(name)) }
    super({ hidden: inEvent, modelJson: JSON.stringify(publicModel), list: 'words' })
  }

  protected override begin(place: number, name: string, code: number): number {
    return place === TOP && name === 'note' && code === OPEN_BRACE ? TOP : ELSEWHERE
  }

  protected override ended(place: number, name: string): void {
    const { text = '' } = this.scanner
    if (place === TOP && name === 'type') {
      this.type = text.slice(1, -1)
    } else if (place === TOP && name === 'word') {
      this.textBytes = text.length - 2
    }
  }
}

class NoteReader extends ScannedReply<TokenCounts, NoteScan> {
  constructor(rules: ReplyRules) {
    super(new NoteScan(rules))
  }

  end(): WholeReply<TokenCounts> {
    const usage = readTokenUsage(parsedOrUndefined(this.scan.usage))
    return this.scan.isValid && this.scan.listCode !== undefined
      ? { kind: 'reply', usage, relayed: (cost) => this.relayed(cost) }
      : { kind: 'unusable', reason: 'the reply has no words' }
  }
}

class NoteStream extends EventStream<TokenCounts, NoteScan> {
  readonly #costOf: (usage: TokenCounts) => Microcredits | undefined
  usage: TokenCounts | undefined

  constructor({ costOf, ...rules }: StreamRules & { costOf: (usage: TokenCounts) => Microcredits | undefined }) {
    super(rules, NOTE_ERRORS)
    this.#costOf = costOf
  }

  protected newScan(): NoteScan {
    return new NoteScan(this.rules)
  }

  /** The first event has the input, the last one the output. */
  protected keepUsage(scan: NoteScan): void {
    const { input_tokens: input, output_tokens: output } = Object(parsedOrUndefined(scan.usage))
    if (input !== undefined || output !== undefined) {
      this.usage = tokenCounts({ ...this.usage, ...(input && { input }), ...(output && { output }) })
    }
  }

  /** The usage begins with the first event. */
  protected override get isAtEnd(): boolean {
    return this.state === 'done'
  }

  protected read(event: SseEvent, scan: NoteScan): string {
    this.keepUsage(scan)
    this.isAtWork = true
    this.hasGenerated ||= scan.type === 'word'
    this.hasBegun ||= this.hasGenerated || scan.type === 'end'
    this.relayedTextBytes += scan.textBytes
    this.state = scan.type === 'end' ? 'done' : this.state
    const cost = scan.type === 'end' && this.usage !== undefined ? this.#costOf(this.usage) : undefined
    return editEvent(event, editsWithCost(scan.edits, cost))
  }
}

const PROMPT = 'hello'
const startNote = (stream: boolean) =>
  startRequest(notes, { model: MODEL, messages: [{ role: 'user', content: PROMPT }], stream, max_tokens: 10 })

const event = (data: { readonly type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const BEGIN = event({ type: 'begin', ...{ note: { model: 'up', usage: { input_tokens: 9, cost: 1 } } } })
const WORD = event({ type: 'word', ...{ word: 'four' } })
const END = event({ type: 'end', ...{ usage: { output_tokens: 3 } } })

/** Sends a reply to the note; one without an end breaks off. */
async function reply(run: FakedRequest, contentType: string, pieces: readonly string[], status = 200): Promise<void> {
  await run.settle()
  run.callFor(PROMPT).answer({ contentType, status })
  run.callFor(PROMPT).body.end(...pieces)
  await run.settle()
}

/** What 9 tokens at 1,000 and 3 at 2,000 cost. */
const BY_USAGE = { kind: 'settle', actual: 15_000n, estimated: false }

describe('a protocol that is one definition', () => {
  it('relays and bills a whole reply', async () => {
    const run = startNote(false)
    const usage = { input_tokens: 9, output_tokens: 3, cost: 1 }
    await reply(run, 'application/json', [JSON.stringify({ model: 'up', words: ['four'], usage })])
    expect(await run.over).toStrictEqual({ error: undefined })
    expect(run.calls[0]?.post.url).toBe('http://127.0.0.1:9/notes')
    expect(run.answer.text).toBe(
      `{"model":"${MODEL}","words":["four"],"usage":{"input_tokens":9,"output_tokens":3,"cost":0.015}}`,
    )
    expect(run.answer.head?.headers).toMatchObject({ 'x-reelgate-cost': '0.015' })
    expect(run.resolved).toStrictEqual([BY_USAGE])
  })

  it('relays the events of a stream with their names, the model inside of one, and the cost at its end', async () => {
    const run = startNote(true)
    await reply(run, 'text/event-stream', [BEGIN, WORD, END])
    expect(await run.over).toStrictEqual({ error: undefined })
    const begin = { type: 'begin', ...{ note: { model: MODEL, usage: { input_tokens: 9 } } } }
    const end = END.replace('}}', ',"cost":0.015}}')
    expect(run.answer.text).toBe(event(begin) + WORD + end)
    expect(run.resolved).toStrictEqual([BY_USAGE])
    expect(run.notes).toMatchObject({ streamEnd: 'whole', inputTokens: 9, outputTokens: 3 })
  })

  it('ends a stream that breaks off with an event of its form, and bills what was reported', async () => {
    const run = startNote(true)
    await reply(run, 'text/event-stream', [BEGIN, WORD])
    await run.over
    expect(run.answer.text).toMatch(
      /event: fault\ndata: \{"type":"fault","fault":\{"status":502,"message":".+"\}\}\n\n$/,
    )
    expect(run.resolved).toStrictEqual([{ kind: 'settle', actual: 9_000n, estimated: false }])
    expect(run.notes).toMatchObject({ streamEnd: 'broken' })
  })

  it('tries another channel, and bills nothing, while only the beginning of a stream has come', async () => {
    const run = startNote(true)
    await reply(run, 'text/event-stream', [BEGIN])
    expect((await run.over).error).toBeInstanceOf(UpstreamFailedError)
    expect(run.resolved).toStrictEqual([{ kind: 'release' }])
  })

  it('writes the errors of the gateway in its form', async () => {
    const run = startNote(false)
    await reply(run, 'text/html', ['<html>'], 400)
    await run.over
    expect(JSON.parse(run.answer.text)).toStrictEqual({
      type: 'fault',
      fault: { status: 400, message: expect.any(String) },
    })
    const response = new FakeResponse()
    fakeExchange({ response, errors: NOTE_ERRORS }).tellFailure(new ModelNotFoundError('x'), { isBilled: false })
    expect(response.head?.statusCode).toBe(404)
    expect(JSON.parse(response.text)).toMatchObject({ type: 'fault', fault: { status: 404 } })
  })
})
