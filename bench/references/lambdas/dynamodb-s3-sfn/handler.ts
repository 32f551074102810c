import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import {
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { Upload } from '@aws-sdk/lib-storage'

const table = DynamoDBDocumentClient.from(new DynamoDBClient({}))
const commands = { GetCommand, QueryCommand, TransactWriteCommand, UpdateCommand }
const objects = { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, Upload }
const executions = { DescribeExecutionCommand, StartExecutionCommand }

/** The bare clients of table, bucket and state machine; the last two are opened at their first use, as the gateway opens them. */
export async function handler(): Promise<unknown> {
  return { table, commands, objects, executions, bucket: new S3Client({}), machine: new SFNClient({}) }
}
