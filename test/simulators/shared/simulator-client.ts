import { readFileSync } from 'node:fs'
import type { Simulator } from '../../../lib/simulators/shared/simulator-server.ts'

/** An answer of a simulator. `body` is the parsed JSON; look into it with `at`. */
export type ClientAnswer = {
  readonly status: number
  readonly text: string
  readonly body: unknown
  readonly headers: Headers
}

/** A fixture: what an upstream answers, and what it was asked. */
export type Fixture = { readonly status: number; readonly body: unknown; readonly request?: unknown }

/** The recorded answers of one provider. */
export function readFixtures(provider: 'p1' | 'p2' | 'p2-proxy'): Map<string, Fixture> {
  const text = readFileSync(new URL(`../fixtures/${provider}.json`, import.meta.url), 'utf8')
  return new Map<string, Fixture>(Object.entries(JSON.parse(text)))
}

/** A member deep inside, by names and indexes; undefined where the path ends early. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      inner !== null && typeof inner === 'object'
        ? Object.entries(inner).find(([key]) => key === String(name))?.[1]
        : undefined,
    value,
  )
}

/** Calls a simulator with a bearer token, as the gateway would. */
export async function call(
  simulator: Simulator,
  path: string,
  options: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<ClientAnswer> {
  const response = await fetch(new URL(path, simulator.baseUrl), {
    method: options.method ?? (options.body === undefined ? 'GET' : 'POST'),
    headers: { authorization: 'Bearer TEST_KEY', 'content-type': 'application/json', ...options.headers },
    redirect: 'manual',
    ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
  })
  const text = await response.text()
  return { status: response.status, text, body: parse(text), headers: response.headers }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A clock that stands until a test moves it. */
export class TestClock {
  #nowMs = Date.UTC(2026, 3, 20, 9, 55, 17, 75)
  readonly now = (): number => this.#nowMs

  advanceSeconds(seconds: number): void {
    this.#nowMs += seconds * 1000
  }
}
