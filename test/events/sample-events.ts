import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { parseFraming } from '../engines/stream-handler.ts'
import type { SampleService } from './sample-service.ts'

export const EVENTS = join(REPOSITORY_ROOT, 'events')

/** The function that each sample event is for. */
export const TARGETS: Readonly<Record<string, string>> = {
  'api-create-chat-completion': 'api/create-chat-completion',
  'api-create-completion': 'api/create-completion',
  'api-create-embedding': 'api/create-embedding',
  'api-create-image': 'api/create-image',
  'api-create-video-job': 'api/create-video-job',
  'api-create-video-quote': 'api/create-video-quote',
  'api-delete-video-job': 'api/delete-video-job',
  'api-get-balance': 'api-shared/account',
  'api-get-health': 'api-shared/public',
  'api-get-model': 'api-shared/catalogue',
  'api-get-openapi-document': 'api-shared/public',
  'api-get-usage': 'api-shared/account',
  'api-get-video-job': 'api/get-video-job',
  'api-get-video-events': 'api/get-video-events',
  'api-get-video-receipt': 'api-shared/account',
  'api-list-models': 'api-shared/catalogue',
  'api-list-video-jobs': 'api/list-video-jobs',
  'api-cancel-video-job': 'api/cancel-video-job',
  'api-resend-video-callback': 'api/resend-video-callback',
  'admin-api-read': 'admin-api/read',
  'admin-api-sign-in': 'admin-api/sign-in',
  'admin-api-write': 'admin-api/write',
  'cdn-signing-key': 'cdn-signing-key',
  'cdn-signing-key-rotate': 'cdn-signing-key',
  'console-files': 'console-files',
  'pipeline-reconcile-execution-status': 'pipeline/reconcile',
  'pipeline-reconcile-schedule': 'pipeline/reconcile',
  'pipeline-check-references': 'pipeline/check-references',
  'pipeline-fail-video-job': 'pipeline/fail-video-job',
  'pipeline-poll-video-job': 'pipeline/poll-video-job',
  'pipeline-settle-video-job': 'pipeline/settle-video-job',
  'pipeline-store-video': 'pipeline/store-video',
  'pipeline-submit-video-job': 'pipeline/submit-video-job',
  'pipeline-notify': 'pipeline/notify',
}

/** The sample events, sent to the deployed functions. */
export class SampleEvents {
  readonly service: SampleService

  constructor(service: SampleService) {
    this.service = service
  }

  read(name: string) {
    return JSON.parse(readFileSync(join(EVENTS, `${name}.json`), 'utf8'))
  }

  async invoke(name: string, changes: object = {}): Promise<unknown> {
    return await this.service.functions.invoke(TARGETS[name] ?? '', { ...this.read(name), ...changes })
  }

  /** The whole result of a function of the API. */
  async result(name: string, changes: object = {}): Promise<APIGatewayProxyResult> {
    const result = await this.invoke(name, changes)
    if (!isApiResult(result)) {
      throw new TypeError(`${name} answered ${JSON.stringify(result)}`)
    }
    return result
  }

  async request(name: string, changes: object = {}): Promise<{ statusCode: number; body: unknown }> {
    const { statusCode, body } = await this.result(name, changes)
    return { statusCode, body: JSON.parse(body) }
  }

  /** What a streaming function sends, whose framing is checked. */
  async stream(name: string, changes: object = {}) {
    const event = { ...this.read(name), ...changes }
    const { statusCode, headers, body } = parseFraming(
      await this.service.functions.invokeStreaming(TARGETS[name] ?? '', event),
    )
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    return { statusCode, contentType: headers['content-type'], text: body.toString('utf8') }
  }
}

function isApiResult(result: unknown): result is APIGatewayProxyResult {
  return typeof result === 'object' && result !== null && 'statusCode' in result
}
