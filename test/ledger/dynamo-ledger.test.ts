import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll } from 'vitest';
import { dynamoLedger } from '../../lib/ledger/dynamo-ledger.ts';
import { type DynamoDb, startDynamoDb } from '../../lib/local/dynamodb.ts';
import { createTable } from '../../lib/local/table.ts';
import { newId } from '../../lib/platform/ids.ts';
import { ledgerContract } from './contract.ts';
import { outsideContract } from './contract-outside.ts';

let database: DynamoDb;
let client: DynamoDBClient;

beforeAll(async () => {
  database = await startDynamoDb();
  client = new DynamoDBClient({
    endpoint: database.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  await createTable(client, 'ledger');
});

afterAll(async () => {
  client.destroy();
  await database.stop();
});

const make = () =>
  dynamoLedger({
    client: DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }),
    table: 'ledger',
    newId,
  });

ledgerContract('DynamoDB', make);
outsideContract('DynamoDB', make);
