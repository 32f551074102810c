import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from '@jest/globals'
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { sampleEvent } from '../../lib/openapi/sample-event.ts'
import { routeOf } from '../engines/load-route.ts'
import { parseFraming } from '../engines/stream-handler.ts'
import type { SampleService } from './sample-service.ts'

export const EVENTS = join(REPOSITORY_ROOT, 'events')

/** The function that each file is for. */
export const TARGETS: Readonly<Record<string, string>> = {
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

  /** What the function of an operation returns for its sample event. @param jobId of a path that names a job. */
  async call(operation: string, jobId = ''): Promise<{ statusCode: number; body: unknown }> {
    const route = routeOf(operation)
    const event = sampleEvent(route, { job_id: jobId })
    return parsed(operation, await this.service.functions.invoke(`api/${route.function}`, event))
  }

  /** The whole result of a function of the API. */
  async result(name: string, changes: object = {}): Promise<APIGatewayProxyResult> {
    return apiResult(name, await this.invoke(name, changes))
  }

  async request(name: string, changes: object = {}): Promise<{ statusCode: number; body: unknown }> {
    return parsed(name, await this.invoke(name, changes))
  }

  /** What a streaming function sends, whose framing is checked. */
  async stream(
    operation: string,
    { jobId = '', ...changes }: { readonly jobId?: string } & Partial<APIGatewayProxyEvent> = {},
  ) {
    const route = routeOf(operation)
    const event = { ...sampleEvent(route, { job_id: jobId }), ...changes }
    const { statusCode, headers, body } = parseFraming(
      await this.service.functions.invokeStreaming(`api/${route.function}`, event),
    )
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    return { statusCode, contentType: headers['content-type'], text: body.toString('utf8') }
  }
}

function parsed(name: string, result: unknown): { statusCode: number; body: unknown } {
  const { statusCode, body } = apiResult(name, result)
  return { statusCode, body: JSON.parse(body) }
}

function apiResult(name: string, result: unknown): APIGatewayProxyResult {
  if (!isApiResult(result)) {
    throw new TypeError(`${name} responded ${JSON.stringify(result)}`)
  }
  return result
}

function isApiResult(result: unknown): result is APIGatewayProxyResult {
  return typeof result === 'object' && result !== null && 'statusCode' in result
}
