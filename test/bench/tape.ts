/**
 * The ledger requests of one settled intent, recorded as they left, to be played again for other intents: the
 * same number in the same order, the same sizes, the same conditions. What names the intent is replaced.
 */
import {
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import * as z from 'zod';

/** One request with its place in the life of the intent. */
export interface Recorded {
  readonly operation: keyof typeof SEND;
  readonly body: string;
}

export interface Tape {
  /** In the order in which they left. */
  readonly requests: readonly Recorded[];
  /** What stood for the intent when it was recorded. */
  readonly names: Names;
}

/** What tells intents apart; equal lengths keep the sizes equal. */
export interface Names {
  readonly table: string;
  readonly intentId: string;
  readonly order: string;
  readonly externalId: string;
  /** The shard in the due index. */
  readonly shard: number;
  /** When it was created, ms; every other time keeps its distance from it. */
  readonly at: number;
}

const SEND = {
  PutItem: (client: DynamoDBClient, body: string) => client.send(new PutItemCommand(JSON.parse(body))),
  UpdateItem: (client: DynamoDBClient, body: string) => client.send(new UpdateItemCommand(JSON.parse(body))),
  GetItem: (client: DynamoDBClient, body: string) => client.send(new GetItemCommand(JSON.parse(body))),
  BatchGetItem: (client: DynamoDBClient, body: string) =>
    client.send(new BatchGetItemCommand(JSON.parse(body))),
} as const;

const request = z.object({ headers: z.record(z.string(), z.string()), body: z.instanceof(Uint8Array) });

/** Records from now on; `stop` ends it and hands over what left, repetitions by the SDK left out. */
export function record(client: DynamoDBClient): { readonly stop: () => Recorded[] } {
  const recorded: Recorded[] = [];
  client.middlewareStack.add(
    (next) => async (args) => {
      const { headers, body } = request.parse(args.request);
      const target = Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-amz-target');
      recorded.push({ operation: operationOf(target?.[1] ?? ''), body: new TextDecoder().decode(body) });
      return next(args);
    },
    { step: 'build', name: 'tape' },
  );
  return {
    stop: () => {
      client.middlewareStack.remove('tape');
      return recorded;
    },
  };
}

function operationOf(target: string): keyof typeof SEND {
  const name = target.split('.').at(-1) ?? '';
  if (!Object.hasOwn(SEND, name)) throw new Error(`Cannot play ${name} again: it has no command`);
  return name as keyof typeof SEND;
}

/** Sends one recorded request under other names; rejects when its condition does not hold. */
export async function play(client: DynamoDBClient, tape: Tape, index: number, names: Names): Promise<void> {
  const recorded = tape.requests[index];
  if (recorded === undefined) throw new RangeError(`Cannot play request ${index}: the tape is shorter`);
  await SEND[recorded.operation](client, renamed(recorded.body, tape.names, names));
}

/** Times and shards differ too: equal sort keys in one shard are a load of another kind for the indexes. */
function renamed(body: string, from: Names, to: Names): string {
  return body
    .replace(`"${from.table}"`, `"${to.table}"`)
    .replaceAll(from.intentId, to.intentId)
    .replaceAll(from.order, to.order)
    .replaceAll(from.externalId, to.externalId)
    .replace(`"due#${from.shard}"`, `"due#${to.shard}"`)
    .replaceAll(TIME, (_, ms: string) => `"N":"${Number(ms) - from.at + to.at}"`);
}

const TIME = /"N":"(\d{13})"/g;
