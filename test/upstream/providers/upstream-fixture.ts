import { readdirSync, readFileSync } from 'node:fs'

/** One recorded exchange of test/fixtures/upstream. */
export type UpstreamFixture = {
  readonly name: string
  readonly request: { readonly method: string; readonly path: string; readonly body: unknown }
  readonly response: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: unknown
    /** Raw bytes of an answer that is no JSON: a stream. */
    readonly body_text?: string
  }
}

const FOLDER = new URL('../../fixtures/upstream/', import.meta.url)

export function readFixture(name: string): UpstreamFixture {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'))
}

/** Names of all fixtures whose name begins like the pattern, sorted. */
export function fixtureNames(pattern: RegExp): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json') && pattern.test(file))
    .map((file) => file.replace(/\.json$/, ''))
    .sort()
}

/** The bytes that the replay server answers with. */
export function answerText(fixture: UpstreamFixture): string {
  return fixture.response.body_text ?? JSON.stringify(fixture.response.body)
}
