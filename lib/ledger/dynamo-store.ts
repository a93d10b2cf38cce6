/** The few DynamoDB calls that the ledger makes: consistent reads, conditional writes, queries. */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Item } from './item.ts';
import { LedgerUnavailable } from './ledger.ts';
import type { updateOf } from './update.ts';

export interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
}

export type Store = ReturnType<typeof storeOf>;
/** `done`, or the item that the condition met (undefined: none). */
type Outcome = 'done' | Item | undefined;

/** Throws `LedgerUnavailable` for everything but a failed condition, which is an answer. */
export function storeOf({ client, table }: StoreOptions) {
  const guarded = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) throw error;
      throw new LedgerUnavailable('Cannot reach the ledger.', { cause: error });
    }
  };
  const conditional = async (work: Promise<unknown>): Promise<Outcome> => {
    try {
      await guarded(work);
      return 'done';
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return error.Item === undefined ? undefined : unmarshall(error.Item);
    }
  };
  const common = { TableName: table, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;
  return {
    get: async (pk: string, sk: string): Promise<Item | undefined> =>
      (
        await guarded(
          client.send(new GetCommand({ TableName: table, Key: { pk, sk }, ConsistentRead: true })),
        )
      ).Item,
    batchGet: async (keys: readonly { pk: string; sk: string }[]): Promise<Item[]> => {
      const request = { Keys: [...keys], ConsistentRead: true };
      const answer = await guarded(client.send(new BatchGetCommand({ RequestItems: { [table]: request } })));
      if (Object.keys(answer.UnprocessedKeys ?? {}).length > 0) {
        throw new LedgerUnavailable('Cannot read the whole batch from the ledger.');
      }
      return answer.Responses?.[table] ?? [];
    },
    /** Put if absent, or under the condition given. */
    put: (
      Item: Item,
      condition = 'attribute_not_exists(pk)',
      values?: Record<string, unknown>,
      names?: Record<string, string>,
    ) => {
      const given = {
        ...(values === undefined ? {} : { ExpressionAttributeValues: values }),
        ...(names === undefined ? {} : { ExpressionAttributeNames: names }),
      };
      return conditional(
        client.send(new PutCommand({ ...common, Item, ConditionExpression: condition, ...given })),
      );
    },
    update: (update: ReturnType<typeof updateOf>) =>
      conditional(client.send(new UpdateCommand({ ...common, ...update }))),
    query: async (query: object): Promise<{ items: Item[]; last: Item | undefined; count: number }> => {
      const answer = await guarded(client.send(new QueryCommand({ TableName: table, ...query })));
      return { items: answer.Items ?? [], last: answer.LastEvaluatedKey, count: answer.Count ?? 0 };
    },
  };
}
