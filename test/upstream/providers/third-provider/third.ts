import type { SchemaKit, SettingsOf } from '#core/catalogue/schema-parts.ts'
import { fieldAt, nonBlank, reportedQuantity, taskIdText, upstreamWords } from '#core/providers/reply-reading.ts'
import type { VideoProvider } from '#core/providers/video-provider.ts'

function settings({ z }: SchemaKit) {
  return { region: z.enum(['north', 'south']) }
}

type Channel = SettingsOf<typeof settings>

const taskPath = (taskId: string, { region }: Channel) => `/${region}/jobs/${taskId}`

/** A provider that does not exist, written by the section "Add a video provider" of CONTRIBUTING.md. */
export const third = {
  name: 'third',
  settings,
  checksReferences: false,
  polling: { first: 20, interval: 10, intervalFactorMax: 2 },
  submit: ({ request, upstreamModelId }, { region }) => ({
    path: `/${region}/jobs`,
    body: { engine: upstreamModelId, text: request.prompt, seconds: request.duration, shape: request.aspect_ratio },
  }),
  taskPath,
  cancel: (taskId, channel) => ({ method: 'DELETE', path: taskPath(taskId, channel) }),
  readTaskId: (body) => taskIdText(fieldAt(body, 'job')),
  statuses: { open: ['new', 'working'], succeeded: ['done'], failed: ['broken', 'stopped'], gone: [] },
  readStatus: (body) => nonBlank(fieldAt(body, 'state')),
  readFailure: (body, word) => upstreamWords([fieldAt(body, 'why')]) ?? `the upstream reported ${word}`,
  readResult: (body) => ({
    videoUrl: nonBlank(fieldAt(body, 'files', 0)),
    billableSeconds: reportedQuantity([fieldAt(body, 'billed')]),
  }),
  readPercent: () => undefined,
  readGenerationSeconds: () => undefined,
} as const satisfies VideoProvider<Channel>
