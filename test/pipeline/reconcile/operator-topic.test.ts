import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { mockClient } from 'aws-sdk-client-mock'
import { afterEach, describe, expect, it } from 'vitest'
import { openOperatorTopic } from '#lambdas/pipeline/reconcile/operator-topic.ts'

const sns = mockClient(SNSClient)
afterEach(() => {
  sns.reset()
})

const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:alarms'

describe('operator-topic', () => {
  it('publishes a message with its id as an attribute, and a subject that SNS takes', async () => {
    sns.on(PublishCommand).resolves({ MessageId: 'm1' })
    await openOperatorTopic(TOPIC)?.({ id: 'evt_1', subject: `Ümlaut\n${'x'.repeat(200)}`, body: '{}' })
    expect(sns.commandCalls(PublishCommand).map(({ args }) => args[0].input)).toEqual([
      {
        TopicArn: TOPIC,
        Subject: `?mlaut?${'x'.repeat(93)}`,
        Message: '{}',
        MessageAttributes: { 'webhook-id': { DataType: 'String', StringValue: 'evt_1' } },
      },
    ])
  })

  it('throws when the topic refuses, so that the alert is tried again', async () => {
    sns.on(PublishCommand).rejects(new Error('no'))
    await expect(openOperatorTopic(TOPIC)?.({ id: 'evt_1', subject: 's', body: '{}' })).rejects.toThrow('no')
  })

  it('is undefined where a stage has no topic', () => {
    expect(openOperatorTopic('')).toBeUndefined()
    expect(openOperatorTopic(undefined)).toBeUndefined()
  })
})
