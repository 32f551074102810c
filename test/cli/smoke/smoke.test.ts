import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { lineOf, printingObserver, runSmoke, verdictLine } from '../../../lib/cli/smoke/smoke.ts'
import { REPOSITORY, withoutRunner } from '../../e2e/child-environment.ts'
import { CLIP } from '../../engines/test-servers.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { healthyAnswers, KEY, type StubAnswers, startSmokeStub } from './smoke-stub.ts'

describe('run smoke', () => {
  const stub = useOpened(() => startSmokeStub(() => answers))
  let answers: StubAnswers
  beforeEach(() => {
    answers = healthyAnswers(stub.origin)
    stub.requests.length = 0
  })

  async function smoke(broken: StubAnswers = {}, options: Partial<Parameters<typeof runSmoke>[0]> = {}) {
    answers = { ...answers, ...broken }
    const announced: string[] = []
    const observer = {
      announce: (text: string) => void announced.push(`${text} after ${stub.requests.length}`),
      progress() {},
      end() {},
    }
    const usual = {
      baseUrl: stub.origin,
      apiKey: KEY,
      skipChat: false,
      skipVideo: false,
      timeoutSeconds: 20,
      pollMilliseconds: 1,
    }
    const report = await runSmoke({ ...usual, ...options }, observer)
    const verdicts = Object.fromEntries(report.steps.map(({ name, verdict }) => [name, verdict]))
    return { report, verdicts, announced, text: JSON.stringify(report) + report.steps.map(lineOf).join('\n') }
  }

  const job = () => Object(healthyAnswers(stub.origin)['GET /v1/video/generations/job-1'].body)

  describe('the smoke test', () => {
    it('passes every step against a healthy deployment', async () => {
      const { report } = await smoke()
      expect(report.ok).toBe(true)
      expect(report.steps.map(({ name }) => name)).toEqual([
        ...['models', 'create', 'wait', 'passthrough', 'download', 'list'],
        ...['chat', 'chat stream'],
      ])
    })

    it('announces the costs before it sends paid requests', async () => {
      const { announced } = await smoke()
      expect(announced).toEqual([
        expect.stringMatching(/one video with famB-1.1-t2v and two .*chat-default.* after 1$/),
      ])
    })

    it('downloads the video by its url, without the key', async () => {
      await smoke()
      expect(stub.requests).toContain('GET /v/1.mp4 without a key')
      expect(stub.requests).toContain(`GET /v1/models Bearer ${KEY}`)
    })

    it.each<[string, string, (origin: string) => StubAnswers, RegExp]>([
      [
        'models',
        'a refused key',
        () => ({ 'GET /v1/models': { status: 401, body: { error: 'invalid api key' } } }),
        /returned 401 \(x-request-id request-7\).*invalid api key/,
      ],
      [
        'models',
        'an HTML page',
        () => ({ 'GET /v1/models': { status: 200, body: '<html>' } }),
        /did not return a JSON object: <html>/,
      ],
      [
        'models',
        'a key without models',
        () => ({ 'GET /v1/models': { status: 200, body: { data: [] } } }),
        /cannot use any model/,
      ],
      [
        'create',
        'a tenant without credits',
        () => ({ 'POST /v1/video/generations': { status: 402, body: { error: 'insufficient quota' } } }),
        /returned 402/,
      ],
      [
        'create',
        'a 201 without a job',
        () => ({ 'POST /v1/video/generations': { status: 201, body: {} } }),
        /without a queued job/,
      ],
      [
        'wait',
        'a failed job',
        () => ({
          'GET /v1/video/generations/job-1': {
            status: 200,
            body: { ...job(), status: 'failed', error: 'no upstream capacity' },
          },
        }),
        /is failed: no upstream capacity/,
      ],
      [
        'wait',
        'a refused poll',
        () => ({ 'GET /v1/video/generations/job-1': { status: 404, body: { error: 'video job not found' } } }),
        /returned 404/,
      ],
      [
        'passthrough',
        'a job without upstream fields',
        () => ({ 'GET /v1/video/generations/job-1': { status: 200, body: { ...job(), output: undefined } } }),
        /no field of the upstream/,
      ],
      [
        'download',
        'a refused url',
        () => ({ 'GET /v/1.mp4': { status: 403, body: 'denied', type: 'text/plain' } }),
        /returned 403/,
      ],
      [
        'download',
        'an HTML page instead of the video',
        () => ({ 'GET /v/1.mp4': { status: 200, body: '<html>', type: 'video/mp4' } }),
        /not an MP4 \(6 bytes\)/,
      ],
      [
        'download',
        'half of a video',
        () => ({ 'GET /v/1.mp4': { status: 200, body: CLIP.subarray(0, CLIP.length / 2), type: 'video/mp4' } }),
        /a truncated MP4/,
      ],
      [
        'list',
        'a list without the job',
        () => ({ 'GET /v1/video/generations': { status: 200, body: { data: [] } } }),
        /list of 0 jobs/,
      ],
      [
        'chat',
        'a response without text',
        () => ({ 'POST /v1/chat/completions': { status: 200, body: { choices: [] } } }),
        /no text/,
      ],
      [
        'chat stream',
        'an incomplete stream',
        () => ({
          'POST /v1/chat/completions stream': {
            status: 200,
            body: 'data: {"choices":[]}\n\n',
            type: 'text/event-stream',
          },
        }),
        /ended before \[DONE\] after 1 events/,
      ],
      [
        'chat stream',
        'a stream of the wrong type',
        () => ({ 'POST /v1/chat/completions stream': { status: 200, body: {} } }),
        /content type application\/json/,
      ],
    ])('fails the step %s for %s and reports the response', async (step, _, broken, expected) => {
      const { report, verdicts } = await smoke(broken(stub.origin))
      expect(report.ok).toBe(false)
      expect(verdicts[step]).toBe('failed')
      expect(Object.values(verdicts).filter((verdict) => verdict === 'failed')).toHaveLength(1)
      expect(report.steps.find(({ name }) => name === step)?.text).toMatch(expected)
    })

    it('says where to look, by the status', async () => {
      const { report } = await smoke({ 'POST /v1/video/generations': { status: 402, body: {} } })
      expect(report.steps.find(({ name }) => name === 'create')?.lookAt).toContain('tenant grant')
    })

    it('skips steps that depend on the failed one, and runs the others', async () => {
      const { verdicts } = await smoke({ 'POST /v1/video/generations': { status: 503, body: {} } })
      expect(verdicts).toMatchObject({ wait: 'skipped', download: 'skipped', list: 'skipped', 'chat stream': 'passed' })
    })

    it('makes no video with --skip-video, and passes', async () => {
      const { report, verdicts, announced } = await smoke({}, { skipVideo: true })
      expect(report.ok).toBe(true)
      expect(verdicts).toEqual({ models: 'passed', chat: 'passed', 'chat stream': 'passed' })
      expect(announced.join()).not.toContain('video')
    })

    it.each<[string, object[], string, string]>([
      ['of no kind', [{ id: 'other' }], '--model (or --skip-video): other', '--chat-model (or --skip-chat): other'],
      [
        'of the kind of the step',
        [
          { id: 'embed', kind: 'embedding' },
          { id: 'talk', kind: 'chat' },
          { id: 'film', kind: 'video' },
        ],
        '--model (or --skip-video): film',
        '--chat-model (or --skip-chat): talk',
      ],
      [
        'of other kinds alone',
        [{ id: 'chat-default', kind: 'embedding' }],
        'the key can use no video model: leave this part out with --skip-video',
        'the key can use no chat model: leave this part out with --skip-chat',
      ],
    ])(
      'names what to give instead of a default that is not listed, for models %s, and spends nothing',
      async (...row) => {
        const [, data, video, chat] = row
        const { report } = await smoke({ 'GET /v1/models': { status: 200, body: { data } } })
        const advice = report.steps.flatMap(({ lookAt = [] }) => lookAt)
        expect(advice).toEqual([video, chat, chat].map((end) => expect.stringContaining(end)))
        expect(stub.requests.filter((request) => request.startsWith('POST'))).toEqual([])
      },
    )

    it('polls through queued and processing, up to the time limit', async () => {
      const inTurn = ['queued', 'processing', 'succeeded']
      const path = 'GET /v1/video/generations/job-1'
      const patient = await smoke({ [path]: () => ({ status: 200, body: { ...job(), status: inTurn.shift() } }) })
      expect(patient.report.ok).toBe(true)
      const never = { [path]: () => ({ status: 200, body: { ...job(), status: 'processing' } }) }
      const { report } = await smoke(never, { timeoutSeconds: 0.2, skipChat: true })
      expect(report.steps.find(({ name }) => name === 'wait')).toMatchObject({
        verdict: 'failed',
        text: 'the time limit of the whole test is over',
      })
    })

    it('never shows the key or a signature, even if a response repeats them', async () => {
      const { text } = await smoke({
        'GET /v/1.mp4': { status: 404, body: 'gone', type: 'text/plain' },
        'POST /v1/chat/completions': { status: 401, body: { error: `invalid api key ${KEY}` } },
      })
      expect(text).toContain('invalid api key [key]')
      expect(text).not.toMatch(new RegExp(`${KEY}|Signature`))
    })
  })

  describe('npm run smoke', () => {
    const run = (...parameters: string[]) =>
      promisify(execFile)(process.execPath, ['bin/smoke.ts', ...parameters], { cwd: REPOSITORY, env: withoutRunner() })

    it('exits with 1 after a failed step and with 2 for an invalid command line', async () => {
      answers = {}
      const [failed, senseless] = await Promise.allSettled([
        run('--base-url', `${stub.origin}/v1/`, '--api-key', KEY, '--json'),
        run('--base-url', stub.origin),
      ])
      expect(failed).toMatchObject({ reason: { code: 1, stdout: expect.stringContaining('"ok":false') } })
      expect(senseless).toMatchObject({ reason: { code: 2, stderr: expect.stringContaining('--api-key is missing') } })
      expect(stub.requests).toEqual([`GET /v1/models Bearer ${KEY}`])
    })
  })
})

const step = { name: 'models', verdict: 'passed', milliseconds: 12, text: '2 models' } as const

describe('lineOf', () => {
  it.each([
    [step, 'ok   models      2 models  (12 ms)'],
    [{ ...step, verdict: 'skipped' as const }, 'skip models      2 models'],
    [
      { ...step, verdict: 'failed' as const, lookAt: 'the key' },
      `FAIL models      2 models  (12 ms)\n${' '.repeat(17)}look at: the key`,
    ],
  ])('has the verdict, the name, the result, the time and where to look (%#)', (verdict, line) => {
    expect(lineOf(verdict)).toBe(line)
  })
})

describe('verdictLine', () => {
  it('counts the steps that passed', () => {
    const failed = { ...step, verdict: 'failed' as const }
    expect(verdictLine({ ok: false, steps: [step, failed] })).toBe('\nFAILED: 1 of 2 steps passed')
    expect(verdictLine({ ok: true, steps: [step] })).toBe('\nok: 1 of 1 steps passed')
  })
})

describe('printingObserver', () => {
  const lines: string[] = []
  beforeEach(() => {
    jest.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)))
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0)
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })

  it('prints the announcement, the progress and the verdict in their order', () => {
    const observer = printingObserver()
    observer.announce('It costs 0.7 credits.')
    observer.progress('processing')
    observer.end(step)
    expect(lines.join(' ').replaceAll('\n', ' ')).toMatch(/It costs.*processing.*ok {3}models/)
  })
})
