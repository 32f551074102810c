import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readStageSettings } from '../../lib/config/stage-settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'cdn-public-keys-'))
afterAll(() => rmSync(folder, { recursive: true }))

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PEM = publicKey.export({ type: 'spki', format: 'pem' }).toString()
const PRIVATE_PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

/** What a stage gets of `-c cdnPublicKey`. */
function readPublicKeys(files: string | undefined): readonly string[] {
  return readStageSettings((name) => (name === 'cdnPublicKey' ? files : undefined)).cdnPublicKeyPems
}

const own = write('own.pem', PEM)

function refusalOf(files: string): string {
  try {
    readPublicKeys(files)
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  }
  return 'taken'
}

describe('the public keys that a team brings', () => {
  it('are none unless files are named', () => {
    expect(readPublicKeys(undefined)).toEqual([])
  })

  it('are taken in the form that CloudFront reads, whichever PEM form they have', () => {
    const older = write('older.pem', publicKey.export({ type: 'pkcs1', format: 'pem' }).toString())
    expect(readPublicKeys(own)).toEqual([PEM])
    expect(readPublicKeys(older)).toEqual([PEM])
  })

  it('are several during a rotation, in the order of the list', () => {
    const next = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
    const file = write('next.pem', next.export({ type: 'spki', format: 'pem' }).toString())
    const [first, second, ...others] = readPublicKeys(`${file}, ${own}`)
    expect(createPublicKey(first ?? '').equals(next)).toBe(true)
    expect(second).toBe(PEM)
    expect(others).toEqual([])
  })

  it('are refused as a private key, without a word of it', () => {
    const refusal = refusalOf(write('private.pem', PRIVATE_PEM))
    expect(refusal).toMatch(/^StageSettingsError: the context setting cdnPublicKey .* holds a private key: .*-pubout$/)
    for (const line of PRIVATE_PEM.split('\n').filter((each) => each !== '' && !each.startsWith('-'))) {
      expect(refusal).not.toContain(line)
    }
  })

  it('are refused as a key on the command line, without a word of it', () => {
    expect(refusalOf(PRIVATE_PEM)).toBe(
      'StageSettingsError: the context setting cdnPublicKey must be the path of a PEM file, not a key itself',
    )
  })

  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
  it.each([
    ['a file that is not there', () => join(folder, 'none.pem'), 'which cannot be read'],
    ['a file without PEM', () => write('text', 'hello'), 'must be a file with one PEM block BEGIN PUBLIC KEY'],
    ['PEM of nothing', () => write('empty.pem', PEM.replace(/\n.*\n/, '\n')), 'must be a public key in PEM'],
    ['a certificate', () => write('x.pem', PEM.replaceAll('PUBLIC KEY', 'CERTIFICATE')), 'BEGIN PUBLIC KEY'],
    ['two keys in a file', () => write('two.pem', PEM + PEM), 'takes one key per file'],
    [
      'a short key',
      () => write('small.pem', small.export({ type: 'spki', format: 'pem' }).toString()),
      'RSA key of 2048 bits',
    ],
    [
      'another kind of key',
      () => write('curve.pem', curve.export({ type: 'spki', format: 'pem' }).toString()),
      'RSA key of 2048 bits',
    ],
    ['a key twice', () => `${own},${own}`, 'names the same key twice'],
    ['more keys than a key group takes', () => Array(6).fill(own).join(','), 'CloudFront takes at most 5 keys'],
    ['nothing between commas', () => `${own},`, 'has an empty name between commas'],
  ] as const)('are refused as %s', (_case, files, reason) => {
    const refusal = refusalOf(files())
    expect(refusal).toMatch(/^StageSettingsError: the context setting cdnPublicKey /)
    expect(refusal).toContain(reason)
  })
})
