import { describe, expect, it } from '@jest/globals'
import { folderOf, resourcesOf, synthesizeStack } from './synthesize-stack.ts'

const functions = resourcesOf(synthesizeStack(), 'AWS::Lambda::Function')

describe('the variables of a function', () => {
  const common = ['LOG_LEVEL', 'POWERTOOLS_METRICS_NAMESPACE', 'POWERTOOLS_SERVICE_NAME']
  const signing = ['CDN_BASE_URL', 'CDN_SIGNING_KEY_SECRET_ARN']

  it.each([
    ['api/create-video-job', ['BUCKET_NAME', 'STATE_MACHINE_ARN', 'TABLE_NAME']],
    ['api/cancel-video-job', ['BUCKET_NAME', 'STATE_MACHINE_ARN', 'TABLE_NAME']],
    ['api/get-video-job', ['BUCKET_NAME', ...signing, 'TABLE_NAME']],
    ['api/list-video-jobs', ['BUCKET_NAME', ...signing, 'TABLE_NAME']],
    ['api/delete-video-job', ['BUCKET_NAME', 'STATE_MACHINE_ARN', 'TABLE_NAME']],
    ['api/catalogue', ['TABLE_NAME']],
    ['api/account', ['TABLE_NAME']],
    ['api/create-chat-completion', ['CHANNEL_SECRET_ARN', 'TABLE_NAME']],
    ['api/create-completion', ['CHANNEL_SECRET_ARN', 'TABLE_NAME']],
    ['api/create-embedding', ['CHANNEL_SECRET_ARN', 'TABLE_NAME']],
    ['api/create-image', ['CHANNEL_SECRET_ARN', 'TABLE_NAME']],
    ['api/public', []],
    ['pipeline/submit-video-job', ['BUCKET_NAME', 'CHANNEL_SECRET_ARN', 'TABLE_NAME']],
    ['pipeline/poll-video-job', ['BUCKET_NAME', 'CHANNEL_SECRET_ARN', 'TABLE_NAME']],
    ['pipeline/store-video', ['BUCKET_NAME', 'TABLE_NAME']],
    ['pipeline/settle-video-job', ['BUCKET_NAME', 'TABLE_NAME']],
    ['pipeline/fail-video-job', ['BUCKET_NAME', 'TABLE_NAME']],
    ['pipeline/notify', [...signing, 'TABLE_NAME']],
    ['pipeline/reconcile', ['ALERT_TOPIC_ARN', 'BUCKET_NAME', 'STATE_MACHINE_ARN', 'TABLE_NAME']],
    ['cdn-signing-key', ['CDN_KEY_GROUP_NAME', 'CDN_SIGNING_KEY_SECRET_ARN']],
  ])('of %s match its needs exactly', (folder, names) => {
    const variables = Object.keys(variablesOf(folder))
    expect(variables.sort()).toEqual([...common, ...names].sort())
  })

  it('never hold a secret', () => {
    expect(JSON.stringify(functions)).not.toMatch(/PRIVATE KEY|resolve:secretsmanager/)
  })
})

function variablesOf(folder: string): object {
  const found = functions.find(({ properties }) => folderOf(properties) === folder)
  return found?.properties.Environment.Variables ?? {}
}
