import { readFileSync } from 'node:fs'
import { topLevelFields } from '#core/json/json-fields.ts'

const FOLDER = new URL('../../fixtures/upstream/', import.meta.url)

/** The answer of a fixture as it stands in its file, down to the spaces and to numbers such as `1.0`. */
export function fixtureAnswer(name: string): string {
  const file = readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')
  return memberText(memberText(file, 'response'), 'body')
}

function memberText(json: string, wanted: string): string {
  for (const { name, valueStart, valueEnd } of topLevelFields(json)) {
    if (name === wanted) {
      return json.slice(valueStart, valueEnd)
    }
  }
  throw new RangeError(`the fixture has no ${wanted}`)
}
