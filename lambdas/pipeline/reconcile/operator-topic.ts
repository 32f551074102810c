/** A message to the operators: a subject for people, a body for programs, and an id by which repeats are recognised. */
export type OperatorMessage = { readonly id: string; readonly subject: string; readonly body: string }

/** Publishes to the operators. @throws when the topic does not take the message. */
export type PublishToOperators = (message: OperatorMessage) => Promise<void>

/** SNS takes up to 100 ASCII characters without line breaks. */
const SUBJECT_CHARACTERS_MAX = 100

/**
 * The operators' topic of the stage (`ALERT_TOPIC_ARN`); undefined where a stage has no topic, as on the local host. The client is
 * loaded with the first message, because most runs publish nothing.
 */
export function openOperatorTopic(topicArn = process.env.ALERT_TOPIC_ARN): PublishToOperators | undefined {
  if (topicArn === undefined || topicArn === '') {
    return undefined
  }
  return async ({ id, subject, body }) => {
    const { PublishCommand, SNSClient } = await import('@aws-sdk/client-sns')
    const Subject = subject.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, SUBJECT_CHARACTERS_MAX)
    const MessageAttributes = { 'webhook-id': { DataType: 'String', StringValue: id } }
    await new SNSClient({}).send(new PublishCommand({ TopicArn: topicArn, Subject, Message: body, MessageAttributes }))
  }
}
