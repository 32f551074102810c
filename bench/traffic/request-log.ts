import * as z from 'zod'
import { marksIn } from './mark.ts'

const requestLine = z.object({
  message: z.literal('request'),
  requestId: z.string(),
  operation: z.string(),
  statusCode: z.number().optional(),
  tenantId: z.string().optional(),
})

/** What a gateway's log says of one request. */
export type LoggedRequest = z.infer<typeof requestLine>

/** Keeps what the log of a gateway says of requests. */
export class RequestLog {
  /** By request id. */
  readonly requests = new Map<string, LoggedRequest>()
  /** Ids that have more than one line. */
  readonly repeated: string[] = []
  /** Marks in lines of the log: nothing of a prompt or a reply belongs there. */
  readonly marks: string[] = []
  readonly #onError: (line: string) => void

  /** @param onError hears of each line of the levels ERROR and above. */
  constructor(onError: (line: string) => void = () => undefined) {
    this.#onError = onError
  }

  /** Takes one line. */
  push(line: string): void {
    if (line.startsWith('{"_aws"') || !line.startsWith('{')) {
      return
    }
    this.marks.push(...marksIn(line))
    const json: unknown = JSON.parse(line)
    const { data } = requestLine.safeParse(json)
    if (data === undefined) {
      if (line.includes('"level":"ERROR"')) {
        this.#onError(line)
      }
      return
    }
    if (this.requests.has(data.requestId)) {
      this.repeated.push(data.requestId)
    }
    this.requests.set(data.requestId, data)
  }
}
