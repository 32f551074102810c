import type { Answer } from './metered-service.ts'

/** Runs something and keeps what it cost under a name. */
export type Recorder = (name: string, run: () => Promise<unknown>) => Promise<void>

/** An answer with another status than the one that is to be measured. */
export class UnexpectedAnswerError extends Error {
  override readonly name = 'UnexpectedAnswerError'
}

/** The body of an answer with this status. @throws UnexpectedAnswerError for any other. */
export async function expectStatus(status: number, answer: Promise<Answer>): Promise<Answer['body']> {
  const received = await answer
  if (received.status !== status) {
    throw new UnexpectedAnswerError(`expected ${status}: ${JSON.stringify(received)}`)
  }
  return received.body
}
