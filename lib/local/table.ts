/** The ledger's table on DynamoDB Local, from the same names that the cloud template uses. */
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../platform/names.ts';

const READY_SECONDS = 30;

/** Creates the table unless it is there, and resolves when it can be used. Safe to call twice. */
export async function createTable(client: DynamoDBClient, name: string): Promise<void> {
  try {
    await client.send(new CreateTableCommand(definitionOf(name)));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  await waitUntilTableExists({ client, maxWaitTime: READY_SECONDS, minDelay: 1 }, { TableName: name });
}

function definitionOf(name: string): CreateTableCommandInput {
  const indexes = Object.values(TABLE.indexes);
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keySchema(TABLE.partitionKey, TABLE.sortKey),
    AttributeDefinitions: [
      { AttributeName: TABLE.partitionKey, AttributeType: 'S' },
      { AttributeName: TABLE.sortKey, AttributeType: 'S' },
      ...indexes.flatMap((index) => [
        { AttributeName: index.partitionKey, AttributeType: 'S' as const },
        { AttributeName: index.sortKey, AttributeType: index.sortType },
      ]),
    ],
    GlobalSecondaryIndexes: indexes.map((index) => ({
      IndexName: index.name,
      KeySchema: keySchema(index.partitionKey, index.sortKey),
      Projection: { ProjectionType: 'KEYS_ONLY' },
    })),
  };
}

function keySchema(partition: string, sort: string): NonNullable<CreateTableCommandInput['KeySchema']> {
  return [
    { AttributeName: partition, KeyType: 'HASH' },
    { AttributeName: sort, KeyType: 'RANGE' },
  ];
}
