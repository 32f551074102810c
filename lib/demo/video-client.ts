import { setTimeout as delay } from 'node:timers/promises'

/** The fields of a job that the demo shows. */
export type Job = {
  readonly id: string
  readonly status: string
  readonly url?: string
  readonly duration_secs?: number
  readonly error?: string
}

/** A minimal client with plain `fetch`. */
export class VideoClient {
  readonly #baseUrl: string
  readonly #key: string

  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl
    this.#key = key
  }

  create(body: object): Promise<Job> {
    return this.#send('/v1/video/generations', { method: 'POST', body: JSON.stringify(body) })
  }

  get(id: string): Promise<Job> {
    return this.#send(`/v1/video/generations/${id}`, {})
  }

  /** Polls until the job has ended and reports every state. @throws Error after `secondsMax`. */
  async waitForEnd(
    id: string,
    { secondsMax, onState }: { secondsMax: number; onState: (job: Job) => void },
  ): Promise<Job> {
    const giveUpAt = Date.now() + secondsMax * 1000
    while (Date.now() < giveUpAt) {
      const job = await this.get(id)
      onState(job)
      if (job.status === 'succeeded' || job.status === 'failed') {
        return job
      }
      await delay(250)
    }
    throw new Error(`job ${id} has not ended after ${secondsMax} s`)
  }

  async #send(path: string, init: RequestInit): Promise<Job> {
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' }
    const response = await fetch(this.#baseUrl + path, { ...init, headers })
    const text = await response.text()
    if (!response.ok) {
      throw new Error(`${response.status} ${text}`)
    }
    return JSON.parse(text)
  }
}
