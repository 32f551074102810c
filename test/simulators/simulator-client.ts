import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import type { Simulator, SimulatorPlace } from '../../lib/simulators/server.ts'

/** A response of a simulator. `body` is the parsed JSON; look into it with `at`. */
export type ClientResponse = {
  readonly status: number
  readonly text: string
  readonly body: unknown
  readonly headers: Headers
}

/** A clock that stands until a test moves it. */
class TestClock {
  #nowMs = Date.UTC(2026, 3, 20, 9, 55, 17, 75)
  readonly now = (): number => this.#nowMs

  advanceSeconds(seconds: number): void {
    this.#nowMs += seconds * 1000
  }
}

/** Starts a simulator with a clock of its own, until the end of the test. */
export async function startForTest<Options extends SimulatorPlace>(
  start: (options: Options) => Promise<Simulator>,
  options: Options,
): Promise<{ simulator: Simulator; clock: TestClock; call: ReturnType<typeof callerOf> }> {
  const clock = new TestClock()
  const simulator = await start({ now: clock.now, ...options })
  onTestFinished(() => simulator.close())
  return { simulator, clock, call: callerOf(simulator) }
}

type CallOptions = { readonly method?: string; readonly body?: unknown; readonly headers?: Record<string, string> }

/** Calls a simulator with a bearer token, as the gateway would. */
function callerOf({ baseUrl }: Simulator) {
  return async (path: string, { method, body, headers }: CallOptions = {}): Promise<ClientResponse> => {
    const response = await fetch(new URL(path, baseUrl), {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { authorization: 'Bearer TEST_KEY', 'content-type': 'application/json', ...headers },
      redirect: 'manual',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, body: parsed(text), headers: response.headers }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Exchange = {
  readonly request: { readonly path: string; readonly body: unknown }
  readonly response: { readonly status: number; readonly body?: unknown; readonly body_text?: string }
}

/** A recorded exchange with a real upstream. */
export function recorded(name: string): Exchange {
  return JSON.parse(readFileSync(new URL(`../fixtures/upstream/${name}.json`, import.meta.url), 'utf8'))
}

/** A value deep inside, by names and indexes; undefined where the path ends early. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, name) => Object(inner)[name], value)
}

/** The structure of a JSON value: names and types of fields, without the values. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.slice(0, 1).map(shapeOf)
  }
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]))
  }
  return value === null ? 'null' : typeof value
}
