import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'

const table = DynamoDBDocumentClient.from(new DynamoDBClient({}))
const commands = { GetCommand, QueryCommand, TransactWriteCommand, UpdateCommand }

/** The bare table client, opened as the gateway opens it, with the commands that the gateway sends. */
export async function handler(): Promise<unknown> {
  return { table, commands }
}
