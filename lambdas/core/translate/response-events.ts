import type { ErrorFacts } from '../api/error-form.ts'
import { asText, type JsonObject, objectsOf } from '../json/parse-json-text.ts'

/** Writes the events of one response, each with its number. */
export class ResponseEventWriter {
  #number: number

  /** @param first the number of the next event. */
  constructor(first = 0) {
    this.#number = first
  }

  /** The number of the next event. */
  get next(): number {
    return this.#number
  }

  write(type: string, fields: JsonObject): string {
    const data = JSON.stringify({ type, sequence_number: this.#number, ...fields })
    this.#number += 1
    return `event: ${type}\ndata: ${data}\n\n`
  }

  /** The first two events. @param response as it is before its first output. */
  opening(response: JsonObject): string {
    return this.write('response.created', { response }) + this.write('response.in_progress', { response })
  }

  /** The last event, by the status of the response. */
  last(response: JsonObject): string {
    const { status } = response
    return this.write(`response.${status === 'incomplete' || status === 'failed' ? status : 'completed'}`, { response })
  }
}

/** The last event of a response that has failed. @param response as far as it came. */
export function failedResponseEvent(response: JsonObject, { message }: ErrorFacts, number: number): string {
  const failed = {
    object: 'response',
    ...response,
    status: 'failed',
    error: { code: 'server_error', message },
    incomplete_details: null,
    usage: null,
  }
  return new ResponseEventWriter(number).last(failed)
}

/** A whole response as the events of a stream. */
export function responseEvents(response: JsonObject): string {
  const writer = new ResponseEventWriter()
  const output = objectsOf(response.output)
  const begun = { ...response, status: 'in_progress', output: [], usage: null, completed_at: null }
  const opening = writer.opening(begun)
  const items = output.map((item, index) => itemEvents(item, index, writer))
  return opening + items.join('') + writer.last(response)
}

function itemEvents(item: JsonObject, output_index: number, writer: ResponseEventWriter): string {
  const place = { item_id: item.id, output_index }
  const empty = emptyItem(item)
  const added = writer.write('response.output_item.added', { output_index, item: empty })
  const inside = insideEvents(item, place, writer)
  return added + inside + writer.write('response.output_item.done', { output_index, item })
}

/** An item before its first delta. */
function emptyItem(item: JsonObject): JsonObject {
  const begun = item.status === undefined ? item : { ...item, status: 'in_progress' }
  switch (item.type) {
    case 'message':
      return { ...begun, content: [] }
    case 'reasoning':
      return { ...begun, summary: [], ...(Array.isArray(item.content) ? { content: [] } : {}) }
    case 'function_call':
      return { ...begun, arguments: '' }
    case 'custom_tool_call':
      return { ...begun, input: '' }
    default:
      return begun
  }
}

function insideEvents(item: JsonObject, place: JsonObject, writer: ResponseEventWriter): string {
  switch (item.type) {
    case 'function_call':
      return textEvents('response.function_call_arguments', 'arguments', item.arguments, place, writer)
    case 'custom_tool_call':
      return textEvents('response.custom_tool_call_input', 'input', item.input, place, writer)
    case 'message':
      return objectsOf(item.content)
        .map((part, content_index) => partEvents(part, { ...place, content_index }, writer))
        .join('')
    case 'reasoning':
      return (
        objectsOf(item.summary)
          .map((part, summary_index) => summaryEvents(part, { ...place, summary_index }, writer))
          .join('') +
        objectsOf(item.content)
          .map((part, content_index) => partEvents(part, { ...place, content_index }, writer))
          .join('')
      )
    default:
      return ''
  }
}

/** The event and the field of the text of each kind of part. */
const PARTS: Readonly<Record<string, { readonly event: string; readonly field: string }>> = {
  output_text: { event: 'response.output_text', field: 'text' },
  refusal: { event: 'response.refusal', field: 'refusal' },
  reasoning_text: { event: 'response.reasoning_text', field: 'text' },
}

function partEvents(part: JsonObject, place: JsonObject, writer: ResponseEventWriter): string {
  const { event, field } = PARTS[asText(part.type)] ?? {}
  if (event === undefined || field === undefined) {
    return (
      writer.write('response.content_part.added', { ...place, part }) +
      writer.write('response.content_part.done', { ...place, part })
    )
  }
  const logprobs = part.type === 'output_text' ? { logprobs: part.logprobs ?? [] } : {}
  return (
    writer.write('response.content_part.added', { ...place, part: { ...part, [field]: '' } }) +
    textEvents(event, field, part[field], { ...place, ...logprobs }, writer) +
    writer.write('response.content_part.done', { ...place, part })
  )
}

function summaryEvents(part: JsonObject, place: JsonObject, writer: ResponseEventWriter): string {
  return (
    writer.write('response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } }) +
    textEvents('response.reasoning_summary_text', 'text', part.text, place, writer) +
    writer.write('response.reasoning_summary_part.done', { ...place, part })
  )
}

function textEvents(
  event: string,
  field: string,
  text: unknown,
  place: JsonObject,
  writer: ResponseEventWriter,
): string {
  return (
    writer.write(`${event}.delta`, { ...place, delta: text ?? '' }) +
    writer.write(`${event}.done`, { ...place, [field]: text ?? '' })
  )
}
