import { printingObserver, runSmoke, type SmokeOptions, verdictLine } from '../lib/cli/smoke/smoke.ts'
import type { SmokeObserver } from '../lib/cli/smoke/steps.ts'
import { parseOptions, readInteger, UsageError } from '../lib/cli/terminal.ts'
import { printFailure } from './print-failure.ts'

const USAGE = `npm run smoke -- --base-url URL --api-key KEY [--model famB-1.1-t2v] [--chat-model chat-default]
                 [--skip-chat | --skip-video] [--timeout-seconds 900] [--json]

Makes a video, watches it, downloads and lists it, and chats, whole and streamed, with any deployment. --base-url is the
BaseUrl of the stack, or of a local host. REELGATE_API_KEY in the environment does for --api-key.
Exit code 0: all passed. 1: a step failed. 2: the command line is invalid.`

const OPTIONS = {
  'base-url': { type: 'string' },
  'api-key': { type: 'string' },
  model: { type: 'string' },
  'chat-model': { type: 'string' },
  'skip-chat': { type: 'boolean', default: false },
  'skip-video': { type: 'boolean', default: false },
  'timeout-seconds': { type: 'string', default: '900' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

const POLL_MILLISECONDS = 2_000
const TIMEOUT_SECONDS_MAX = 24 * 60 * 60

/** Only the report is printed. */
const silent: SmokeObserver = { announce() {}, progress() {}, end() {} }

/** `npm run smoke`. */
async function main(): Promise<void> {
  const { values } = parseOptions({ options: OPTIONS })
  if (values.help) {
    console.log(USAGE)
    return
  }
  const report = await runSmoke(readOptions(values), values.json ? silent : printingObserver())
  console.log(values.json ? JSON.stringify(report) : verdictLine(report))
  process.exitCode = report.ok ? 0 : 1
}

/** @throws UsageError */
function readOptions(values: ReturnType<typeof parseOptions<{ options: typeof OPTIONS }>>['values']): SmokeOptions {
  const apiKey = values['api-key'] || process.env.REELGATE_API_KEY
  if (!apiKey) {
    throw new UsageError('--api-key is missing: npm run admin -- key create makes one')
  }
  if (values['skip-chat'] && values['skip-video']) {
    throw new UsageError('--skip-chat and --skip-video leave nothing to test: use one of them')
  }
  return {
    baseUrl: readBaseUrl(values['base-url']),
    apiKey,
    model: values.model,
    chatModel: values['chat-model'],
    skipChat: values['skip-chat'],
    skipVideo: values['skip-video'],
    timeoutSeconds: readInteger('--timeout-seconds', values['timeout-seconds'], { min: 1, max: TIMEOUT_SECONDS_MAX }),
    pollMilliseconds: POLL_MILLISECONDS,
  }
}

/** Accepts the address with or without `/v1`, as clients write it. */
function readBaseUrl(text: string | undefined): string {
  if (text === undefined || !/^https?:\/\/[^\s?#]+$/.test(text) || !URL.canParse(text)) {
    throw new UsageError(text === undefined ? '--base-url is missing' : `--base-url ${text}: use an http(s) url`)
  }
  return text.replace(/\/+$/, '').replace(/\/v1$/, '')
}

main().catch((error: unknown) => printFailure(error, { usage: USAGE }))
