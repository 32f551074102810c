import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'

/** An empty folder, into which the package is installed beside the app of examples/. */
const app = mkdtempSync(join(tmpdir(), 'reelgate-package-'))
afterAll(() => rmSync(app, { recursive: true, force: true }))

let packed: readonly string[] = []

function run(command: string, parameters: readonly string[], cwd: string): string {
  return execFileSync(command, parameters, {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: app, NODE_OPTIONS: '' },
  })
}

beforeAll(() => {
  const archive = run('npm', ['run', '--silent', 'package', app], REPOSITORY_ROOT).trim()
  packed = run('tar', ['-tzf', archive], app).trim().split('\n')
  cpSync(join(REPOSITORY_ROOT, 'examples/cdk-app'), app, { recursive: true })
  // CDK itself would come from the registry: the app gets that of the checkout.
  const manifest = join(app, 'package.json')
  const { dependencies, devDependencies: _, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'))
  writeFileSync(manifest, JSON.stringify({ ...rest, dependencies: { reelgate: dependencies.reelgate } }))
  run('npm', ['install', '--offline', '--legacy-peer-deps', '--no-audit', '--no-fund'], app)
  for (const name of ['aws-cdk-lib', 'constructs']) {
    symlinkSync(join(REPOSITORY_ROOT, 'node_modules', name), join(app, 'node_modules', name))
  }
})

describe('the package', () => {
  it('holds what runs in an app of CDK, and nothing else', () => {
    const folders = new Set(packed.map((path) => path.replace(/^(package\/[^/]+)\/.*/, '$1')))
    expect([...folders].sort()).toEqual(
      [
        'LICENSE',
        'admin-openapi.json',
        'cl100k_base.json',
        'config',
        'console',
        'lambdas',
        'lib',
        'openapi.json',
        'package.json',
      ].map((name) => `package/${name}`),
    )
    expect(packed.filter((path) => path.endsWith('.ts'))).toEqual(['package/lib/package/reelgate.d.ts'])
  })

  it('types the settings of a stage, so that the example compiles and a wrong setting does not', () => {
    const check = (file: string) =>
      run(
        join(REPOSITORY_ROOT, 'node_modules/.bin/tsc'),
        ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024', '--module', 'nodenext', '--types', '', file],
        app,
      )
    expect(check('app.ts')).toBe('')
    writeFileSync(
      join(app, 'wrong.ts'),
      readFileSync(join(app, 'app.ts'), 'utf8').replace("profile: 'prod'", "profile: 'production'"),
    )
    expect(() => check('wrong.ts')).toThrow(/Command failed/)
  })

  it('synthesises the example without a build, with the outputs that commands look for and the console', () => {
    execFileSync(process.execPath, ['app.ts'], {
      cwd: app,
      env: { PATH: process.env.PATH, HOME: app, CDK_OUTDIR: join(app, 'out') },
      stdio: 'pipe',
    })
    const { Resources, Outputs } = JSON.parse(readFileSync(join(app, 'out/Reelgate-platform.template.json'), 'utf8'))
    expect(Object.keys(Outputs)).toEqual(
      expect.arrayContaining(['BaseUrl', 'ConsoleUrl', 'TableName', 'AlarmTopicArn', 'ChannelSecretArn']),
    )
    const keys = Object.values<{ Properties?: { Code?: { S3Key?: string } } }>(Resources).flatMap(
      ({ Properties }) => Properties?.Code?.S3Key ?? [],
    )
    const entries = keys.map((key) => join(app, 'out', `asset.${key.replace('.zip', '')}`, 'index.mjs'))
    expect(new Set(entries.filter((file) => existsSync(file))).size).toBeGreaterThan(20)
  })
})
