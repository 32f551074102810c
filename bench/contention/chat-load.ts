import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { quantile } from '../statistics.ts'
import { type Outcome, sendMarked } from '../traffic/send-marked.ts'

/** Chats at an even rate, to one process after the other. */
export type ChatLoad = {
  readonly origins: readonly string[]
  readonly key: string
  /** All processes together. */
  readonly perSecond: number
  readonly seconds: number
}

/** How the chats ended. */
export type ChatFigures = {
  readonly served: number
  readonly refused: number
  /** Served by the process that served least and by the one that served most. */
  readonly leastServed: number
  readonly mostServed: number
  /** Milliseconds from the request to the end of the response, of chats that were served. */
  readonly p50: number
  readonly p99: number
  /** Chats that were served in a second, from the first request to the last response. */
  readonly servedPerSecond: number
}

/** Sends chats when they are due, however many are open, and resolves when the last has ended. */
export async function runChats({ origins, key, perSecond, seconds }: ChatLoad): Promise<ChatFigures> {
  const agent = new Agent({ keepAlive: true })
  const began = performance.now()
  const chats: Promise<Outcome & { readonly process: number }>[] = []
  for (let request = 0; request < perSecond * seconds; request += 1) {
    await delay(Math.max(0, began + (request / perSecond) * 1_000 - performance.now()))
    const process = request % origins.length
    const sent = { mark: { tenant: 0, request }, kind: 'chat', key, leaving: undefined } as const
    chats.push(sendMarked(origins[process] ?? '', agent, sent).then((outcome) => ({ ...outcome, process })))
  }
  const outcomes = await Promise.all(chats)
  const elapsedSeconds = (performance.now() - began) / 1_000
  agent.destroy()
  const served = outcomes.filter(({ status }) => status === 200)
  const perProcess = origins.map((_, index) => served.filter(({ process }) => process === index).length)
  const milliseconds = served.map((outcome) => outcome.milliseconds)
  return {
    served: served.length,
    refused: outcomes.length - served.length,
    leastServed: Math.min(...perProcess),
    mostServed: Math.max(...perProcess),
    p50: quantile(milliseconds, 0.5),
    p99: quantile(milliseconds, 0.99),
    servedPerSecond: served.length / elapsedSeconds,
  }
}
