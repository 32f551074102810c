import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { Stack } from 'aws-cdk-lib'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { GatewayFunction } from '#stack/gateway-function.ts'
import { createStackTrace } from '../../../lib/cli/admin/stack-trace.ts'
import { createApp } from '../../stack/synthesize-stack.ts'
import { runCommand } from './run-command.ts'

const FOLDER = 'api/delete-video-job'

/** Calls the deployed handler with an event that has no path: answering 401 takes the first characters of the path. */
const PROVOKE = `
  const { handler } = await import(process.argv[1])
  await handler({ headers: { Authorization: 'Bearer none' } }, {}).catch((error) => console.log(error.stack))`

const { directory, trace } = deployAndFail()
const maps = join(directory, 'source-maps')
const [bundle = ''] = globSync(`${FOLDER}/*`, { cwd: maps })

/** The assembly of one function, and the stack trace that the function throws on Lambda. */
function deployAndFail() {
  const app = createApp({ bundledStacks: ['Bundled'] })
  new GatewayFunction(new Stack(app, 'Bundled'), 'Delete', {
    sources: { root: REPOSITORY_ROOT, configurationFile: '' },
    folder: FOLDER,
    timeoutSeconds: 29,
    memoryMegabytes: 128,
    files: [],
  })
  const assembly = app.synth().directory
  const [asset = ''] = globSync('asset.*', { cwd: assembly })
  const env = { PATH: process.env.PATH, TABLE_NAME: 'table', AWS_REGION: 'us-east-1' }
  const code = join(assembly, asset)
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', PROVOKE, join(code, 'index.mjs')], {
    env,
    encoding: 'utf8',
  })
  return { directory: assembly, trace: stdout.replaceAll(code, '/var/task').trim() }
}

function map(input: string, options: Readonly<Record<string, string>> = {}) {
  return runCommand(
    createStackTrace(() => input),
    { options: { maps, ...options } },
  )
}

describe('stack-trace', () => {
  it('leads from the positions of a deployed bundle to file and line of the source', async () => {
    const { text } = await map(trace)
    const [, file = '', line] = /at ([\w/-]+\.ts):(\d+):\d+/.exec(text) ?? []
    expect(file).toMatch(/^lambdas\//)
    expect(readFileSync(join(REPOSITORY_ROOT, file), 'utf8').split('\n')[Number(line) - 1]).toMatch(
      /\bpath\b|isBelow\(/,
    )
    expect(text).toContain('at onError (lambdas/middleware/responses.ts:')
    expect(text).toContain('node_modules/@middy/core/')
    expect(text).not.toContain('/var/task')
    expect(text).toContain(`(${bundle})`)
  })

  it('reads what the logger and Lambda write, with a time before, and causes inside', async () => {
    const { text } = await map(trace)
    const stack = text.replace(`\n(${bundle})`, '')
    const frames = trace.split('\n')
    for (const line of [
      JSON.stringify({ level: 'ERROR', message: 'request failed', error: { name: 'TypeError', stack: trace } }),
      JSON.stringify({ error: { cause: { stack: trace } } }),
      `2027-01-31T12:00:00Z\tid\tERROR\tUncaught Exception\t${JSON.stringify({ errorType: 'TypeError', stack: frames })}`,
    ]) {
      const { json } = await map(`START RequestId: id\n${line}\nEND RequestId: id`)
      expect(json).toEqual({ traces: [{ bundle, stack }] })
    }
  })

  it("leaves the frames of Node and of Lambda's runtime as they are", async () => {
    const runtime = '    at Runtime.handleOnce (file:///var/runtime/index.mjs:1206:29)'
    expect((await map(`${trace}\n${runtime}`)).text).toContain(runtime)
  })

  it('says that a trace does not match, and what was looked for', async () => {
    const moved = trace.replaceAll(/:(\d+)(?=\)?$)/gm, (_, column) => `:${Number(column) + 1}`)
    await expect(map(moved)).rejects.toThrow('another deployment or function wrote the log')
    await expect(map('all is well')).rejects.toThrow('there is no stack trace of deployed code on stdin')
    await expect(map(trace, { bundle: 'none' })).rejects.toThrow('has no source maps of that function or bundle')
    await expect(map(trace, { function: 'api/none' })).rejects.toThrow('has no source maps of that function or bundle')
  })

  it('asks for the bundle when several fit and lead to different positions', async () => {
    const older = mkdtempSync(join(maps, FOLDER, 'older-'))
    cpSync(join(maps, bundle), older, { recursive: true })
    expect((await map(trace)).text).toContain(`(${bundle}, ${relative(maps, older)})`)

    const file = join(older, 'index.mjs.map')
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('lambdas/', 'elsewhere/'))
    // The command keeps the maps that it has opened: this one is of yet another directory.
    const oldest = `${older}-moved`
    renameSync(older, oldest)
    await expect(map(trace)).rejects.toThrow(
      `fits several bundles; name one with --function or --bundle: ${bundle}, ${relative(maps, oldest)}`,
    )
    expect((await map(trace, { bundle: basename(oldest) })).text).toContain('elsewhere/')
    rmSync(oldest, { recursive: true })
  })

  it('has its maps outside of what is deployed', () => {
    const deployed = globSync('asset.*/*', { cwd: directory })
    expect(deployed.map((file) => basename(file))).toContain('index.mjs')
    expect(deployed.filter((file) => readFileSync(join(directory, file), 'utf8').includes('sourceMappingURL'))).toEqual(
      [],
    )
    expect(deployed.filter((file) => !file.endsWith('.mjs'))).toEqual([])
  })
})
