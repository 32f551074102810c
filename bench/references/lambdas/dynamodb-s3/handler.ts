import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
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

/** The bare table client, and a bucket client that is opened at its first use, as the gateway opens it. */
export async function handler(): Promise<unknown> {
  return { table, commands, objects, bucket: new S3Client({}) }
}
