import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import OpenAI from 'openai'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import { openTable } from '#adapters/store/table/sdk-table.ts'
import { formatCredits, parseCredits } from '#core/money.ts'
import { createMp4Scanner } from '#core/mp4.ts'
import { type LocalHost, startLocalHost } from '#local/local-host.ts'
import { verifyLedgers } from '../admin/ledger/ledger-commands.ts'
import { ProgressBar } from '../terminal/progress-bar.ts'
import { type ReceivedCallback, startCallbackReceiver } from './callback-receiver.ts'
import { showChat, showEmbedding } from './show-relay.ts'
import { type Job, VideoClient } from './video-client.ts'

const CONFIG_FILE = join(import.meta.dirname, '../../config/demo.yaml')

/** Far above the usual time, for a machine under load. */
const JOB_SECONDS_MAX = 60

const CALLBACK_SECONDS_MAX = 20

/** Rough time of the demo's upstream and its polls. */
const VIDEO_SECONDS = 6

/** Runs a video job end to end on one machine, with its callback and download, then a chat and an embedding, and shows the ledger. */
export async function runDemo(): Promise<void> {
  const receiver = await startCallbackReceiver()
  process.env.DEMO_CALLBACK_ORIGIN = receiver.origin
  const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-demo-'))
  const host = await startLocalHost({
    port: 0,
    configFile: CONFIG_FILE,
    dataDirectory,
    apiKey: undefined,
    allowedHosts: [],
    credits: parseCredits('100'),
  })
  try {
    console.log(`The gateway listens on ${host.url}; its upstreams are simulated, each with its own HTTP server.\n`)
    await showBalance('before')
    const job = await makeVideo(host, `${receiver.origin}/hooks/video`)
    await showCallback(await withinBound(receiver.received), host.tenant.webhookSecret)
    await showDownload(job)
    await showChat(host)
    await showEmbedding(host)
    await showBalance('after')
    console.log(`  ledger verify: ${(await verifyLedgers(openTable())).text}`)
    console.log(
      '\nTo look at it, run npm start: it prints a link to the console, with a playground that makes and shows videos.',
    )
  } finally {
    await Promise.all([host.close(), receiver.close()])
    rmSync(dataDirectory, { recursive: true, force: true })
  }
}

/** The callback follows the end of the job at once. @throws Error if none arrives in time. */
async function withinBound(received: Promise<ReceivedCallback>): Promise<ReceivedCallback> {
  const late = delay(CALLBACK_SECONDS_MAX * 1000).then(() => {
    throw new Error(`no callback arrived within ${CALLBACK_SECONDS_MAX} s`)
  })
  return await Promise.race([received, late])
}

/** Bounds the wait for a settlement, which follows the last byte of its response. */
const BALANCE_READS_MAX = 100

async function showBalance(when: string): Promise<void> {
  let { balance } = await getTenant(openTable(), 'demo')
  for (let read = 1; balance.held > 0n && read < BALANCE_READS_MAX; read += 1) {
    balance = (await getTenant(openTable(), 'demo')).balance
  }
  const [available, held, spent] = [balance.available, balance.held, balance.spent].map(formatCredits)
  console.log(`  ledger ${when}: available ${available}, held ${held}, spent ${spent} credits`)
}

async function makeVideo(host: LocalHost, callbackUrl: string): Promise<Job> {
  const client = new VideoClient(host.url, host.key)
  const body = {
    model: 'famB-1.1-t2v',
    prompt: 'a paper city lights up at night',
    duration: 5,
    callback_url: callbackUrl,
  }
  console.log(`\nPOST /v1/video/generations ${JSON.stringify(body)}`)
  const created = await client.create(body)
  const bar = new ProgressBar(VIDEO_SECONDS)
  bar.draw(created.status)
  const job = await client.waitForEnd(created.id, {
    secondsMax: JOB_SECONDS_MAX,
    onState: ({ status }) => bar.draw(status),
  })
  bar.end()
  if (job.status !== 'succeeded') {
    throw new Error(`the job ${job.status}: ${job.error}`)
  }
  return job
}

/** Verifies the signature with the official SDK, as a client would. */
async function showCallback({ body, headers }: ReceivedCallback, webhookSecret: string): Promise<void> {
  const client = new OpenAI({ apiKey: 'unused', webhookSecret })
  await client.webhooks.unwrap(body, headers)
  console.log(`\nThe callback arrived and its signature is valid (openai webhooks.unwrap):\n  ${body}`)
}

async function showDownload({ url = '' }: Job): Promise<void> {
  const response = await fetch(url)
  const bytes = new Uint8Array(await response.arrayBuffer())
  const scanner = createMp4Scanner()
  scanner.push(bytes)
  const range = await fetch(url, { headers: { range: 'bytes=4-7' } })
  const brand = await range.text()
  console.log(`\nGET ${url.slice(0, 60)}...`)
  console.log(
    `  ${bytes.length} bytes of ${response.headers.get('content-type')}, ${scanner.finish().durationSeconds} s long according to its header`,
  )
  console.log(`  bytes 4-7 alone: ${range.status} "${brand}"\n`)
}
