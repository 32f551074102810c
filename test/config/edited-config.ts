import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect } from '@jest/globals'
import { GatewayConfigError, loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { SHIPPED_FILE } from '../core/shipped-catalogue.ts'

export const folder = mkdtempSync(join(tmpdir(), 'gateway-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const FILE = join(folder, 'gateway.yaml')
/** The text of config/gateway.yaml. */
export const shipped = readFileSync(SHIPPED_FILE, 'utf8')
/** A configuration of the tests' own, whose rows stay where they are when the shipped ones move. */
export const SAMPLE_FILE = fileURLToPath(new URL('../fixtures/config/gateway.yaml', import.meta.url))
/** The text of it. */
export const sample = readFileSync(SAMPLE_FILE, 'utf8')

export type Mode = Parameters<typeof loadGatewayConfig>[0]['mode']
export type Setting = { environment?: Record<string, string>; mode?: Mode }

export function load(text: string, { environment = {}, mode = 'local' }: Setting = {}) {
  writeFileSync(FILE, text)
  return loadGatewayConfig({ file: FILE, environment, mode })
}

/** The sample with one passage changed. */
export function changed(passage: string, replacement: string): string {
  if (!sample.includes(passage)) {
    throw new Error(`the sample does not hold ${passage}`)
  }
  return sample.replace(passage, () => replacement)
}

/** One-based, of the first line that holds a passage. */
export function lineOf(text: string, passage: string): number {
  return text.slice(0, text.indexOf(passage)).split('\n').length
}

/** The problems, one a line, without the name of the file. */
export function problemsOf(text: string, setting: Setting = {}): string[] {
  try {
    load(text, setting)
  } catch (error) {
    if (error instanceof GatewayConfigError) {
      const [, ...lines] = error.message.split('\n')
      expect(lines.every((line) => line.startsWith(`  ${FILE}:`))).toBe(true)
      return lines.map((line) => line.slice(`  ${FILE}:`.length))
    }
    throw error
  }
  return []
}
