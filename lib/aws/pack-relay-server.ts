import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeTokenizerRanks } from '../config/tokenizer-ranks.ts'
import { bundleHandler } from './bundle-handler.ts'
import type { FunctionSources } from './function-sources.ts'
import { zipFiles } from './zip-files.ts'

/**
 * The file that the runtime loads. It is CommonJS, loads the bundle either way, and says where the files beside it are, which a Web Function
 * may not say. Without a variable that begins with `AWS_LAMBDA_`, all of which are reserved.
 */
const ENTRY = ['process.env.LAMBDA_TASK_ROOT ??= __dirname', "import('./index.mjs')", ''].join('\n')

/** The module that runs as a process of its own. */
export const RELAY_SERVER = { folder: 'relay-server', entry: 'main.ts' } as const

/**
 * The code of the Web Function as a zip archive: the relay server, the configuration and the vocabulary that counts tokens. The same sources give
 * the same bytes.
 * @throws BuildFailure of esbuild.
 */
export function packRelayServer({
  root,
  configurationFile,
}: Pick<FunctionSources, 'root' | 'configurationFile'>): Buffer {
  const { files } = bundleHandler({ root, ...RELAY_SERVER })
  const modules = files.map(({ name, code }) => ({ name, bytes: Buffer.from(code) }))
  return zipFiles([
    { name: 'index.js', bytes: Buffer.from(ENTRY) },
    ...modules.sort((one, other) => (one.name < other.name ? -1 : 1)),
    { name: 'gateway.json', bytes: readFileSync(configurationFile) },
    { name: 'cl100k_base.json', bytes: readTokenizerRanks() },
  ])
}

function readTokenizerRanks(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'reelgate-ranks-'))
  try {
    const file = join(folder, 'ranks.json')
    writeTokenizerRanks(file)
    return readFileSync(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
