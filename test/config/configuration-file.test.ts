import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { CONFIGURATION_FILE, configurationFile, OWN_CONFIGURATION_FILE } from '../../lib/config/load-gateway-config.ts'
import { readStageSettings } from '../../lib/config/stage-settings.ts'
import { SHIPPED_FILE } from '../core/shipped-catalogue.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reelgate-configuration-'))
  mkdirSync(join(directory, 'config'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Runs a file of `bin/` where the operator's own configuration lies, and answers with all that it wrote. */
async function run(
  file: string,
  parameters: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [hook, script] = ['bin/require-node.mjs', `bin/${file}`].map((path) => join(REPOSITORY_ROOT, path))
  const { CDK_DEFAULT_ACCOUNT: _account, AWS_ENDPOINT_URL: _endpoint, ...environment } = process.env
  const child = spawn(process.execPath, ['--import', String(hook), String(script), ...parameters], {
    cwd: directory,
    env: { ...environment, CDK_OUTDIR: join(directory, 'cdk.out'), ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return out + err
}

describe('the configuration file', () => {
  it('is the shipped one, and the operator’s own where there is one', () => {
    expect(configurationFile(directory)).toBe(CONFIGURATION_FILE)
    writeFileSync(join(directory, OWN_CONFIGURATION_FILE), '')
    expect(configurationFile(directory)).toBe(OWN_CONFIGURATION_FILE)
  })

  it('is never the shipped one in place of an own one that cannot be read', () => {
    symlinkSync(join(directory, 'nowhere.yaml'), join(directory, OWN_CONFIGURATION_FILE))
    expect(configurationFile(directory)).toBe(OWN_CONFIGURATION_FILE)
  })

  it('is not looked for by the settings of a stage, so that tests are about the file that they name', () => {
    writeFileSync(join(directory, OWN_CONFIGURATION_FILE), '')
    expect(readStageSettings(() => undefined).configFile).toBe(CONFIGURATION_FILE)
  })

  it.each([
    ['start', 'local.ts', ['--port', '0', '--data-dir', 'data']],
    ['synth', 'cdk.ts', []],
    ['admin: catalogue check', 'admin.ts', ['catalogue', 'check', '--local']],
    ['admin: catalogue diff', 'admin.ts', ['catalogue', 'diff', '--local']],
    ['simulators', 'simulators.ts', []],
  ])('of the operator is found by %s', async (_command, file, parameters) => {
    writeFileSync(join(directory, OWN_CONFIGURATION_FILE), 'nonsense: true\n')
    expect(await run(file, parameters)).toContain(`${OWN_CONFIGURATION_FILE}:1`)
  })

  it('of the operator gives way to one that `-c config=` names', async () => {
    writeFileSync(join(directory, OWN_CONFIGURATION_FILE), 'nonsense: true\n')
    // As the `cdk` command hands context to the app.
    const said = await run('cdk.ts', [], { CDK_CONTEXT_JSON: JSON.stringify({ config: 'config/other.yaml' }) })
    expect(said).toContain('config/other.yaml')
    expect(said).not.toContain(OWN_CONFIGURATION_FILE)
  })

  it('of the operator gives way to one that `--config` names', async () => {
    writeFileSync(join(directory, OWN_CONFIGURATION_FILE), 'nonsense: true\n')
    const said = await run('admin.ts', ['catalogue', 'check', '--local', '--config', SHIPPED_FILE])
    expect(said).toContain('chat-default')
    expect(said).not.toContain(OWN_CONFIGURATION_FILE)
  })
})
