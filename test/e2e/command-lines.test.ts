import { spawnSync } from 'node:child_process'
import { afterAll, describe, expect, it } from '@jest/globals'
import { REPOSITORY, withoutRunner } from './child-environment.ts'
import { type Gateway, startGateway } from './start-gateway.ts'

function demo(...parameters: string[]) {
  const command = ['--import', './bin/require-node.mjs', 'bin/demo.ts', ...parameters]
  return spawnSync(process.execPath, command, {
    cwd: REPOSITORY,
    env: withoutRunner(),
    encoding: 'utf8',
    timeout: 30_000,
  })
}

describe('npm run demo', () => {
  it.each(['--help', '-h'])('with %s prints its help and does nothing else', (option) => {
    const { status, stdout, stderr } = demo(option)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/^npm run demo\n/)
    expect(stdout).not.toContain('listens on')
  })

  it('refuses an unknown option and does nothing', () => {
    const { status, stdout, stderr } = demo('--port', '1')
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^there is no option --port$/m)
  })
})

describe('npm start', () => {
  let gateway: Gateway | undefined
  afterAll(() => gateway?.kill())

  it('warns of an OpenAI-style base url without a version, and starts', async () => {
    const environment = { RELAY_BASE_URL: 'http://127.0.0.1:9', RELAY_API_KEY: 'key' }
    gateway = await startGateway({ environment })
    expect(gateway.output()).toContain(
      'warning: channel openai-main has a base_url without /v1, so chats go to http://127.0.0.1:9/chat/completions',
    )
  })
})
