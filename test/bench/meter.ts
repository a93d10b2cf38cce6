/**
 * Counts what a client asks of DynamoDB, twice: the requests that succeeded, as the client sees them, and the
 * capacity that DynamoDB itself says it consumed. Asking for the latter makes answers larger: attach no meter
 * where time is measured.
 */
import type { ConsumedCapacity, DynamoDBClient } from '@aws-sdk/client-dynamodb';

export interface Traffic {
  /** Write requests that succeeded. */
  readonly writes: number;
  /** Write requests for which DynamoDB reported capacity of the table itself. */
  readonly reportedWrites: number;
  /** Write units of the table. */
  readonly writeUnits: number;
  /** By index: writes that touched it, and their units. */
  readonly indexes: Readonly<Record<string, { readonly writes: number; readonly units: number }>>;
  readonly gets: number;
  /** Items asked for by `gets`, those that were not there included. */
  readonly keys: number;
  readonly queries: number;
  /** Read units of the table and its indexes. */
  readonly readUnits: number;
  /** Requests that were refused or failed, failed conditions included; they report no capacity. */
  readonly failed: number;
  /** Repetitions by the SDK. */
  readonly repeats: number;
}

const WRITES = ['PutItemCommand', 'UpdateItemCommand', 'DeleteItemCommand'];

/** Attaches itself to the client for the rest of its life; answers what was counted so far. */
export function meter(client: DynamoDBClient): () => Traffic {
  let count = nothing();
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const input = { ...args.input, ReturnConsumedCapacity: 'INDEXES' } as typeof args.input & Input;
      try {
        const result = await next({ ...args, input });
        count = after(count, String(context.commandName), input, result.output);
        return result;
      } catch (error) {
        count = { ...count, failed: count.failed + 1 };
        throw error;
      }
    },
    { step: 'initialize', name: 'meter' },
  );
  return () => count;
}

function nothing(): Traffic {
  const zero = { writes: 0, reportedWrites: 0, writeUnits: 0, gets: 0, keys: 0, queries: 0, readUnits: 0 };
  return { ...zero, indexes: {}, failed: 0, repeats: 0 };
}

interface Input {
  /** Of a batch; by table. */
  readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly unknown[] }>> | undefined;
}

interface Output {
  readonly $metadata: { readonly attempts?: number | undefined };
  readonly ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] | undefined;
}

function after(count: Traffic, command: string, input: Input, output: object): Traffic {
  const { $metadata, ConsumedCapacity } = output as Output;
  const capacity = [ConsumedCapacity ?? []].flat();
  const repeats = count.repeats + ($metadata.attempts ?? 1) - 1;
  if (WRITES.includes(command)) return afterWrite({ ...count, repeats }, capacity);
  const readUnits = count.readUnits + sum(capacity.map((each) => each.CapacityUnits));
  if (command === 'QueryCommand') return { ...count, repeats, readUnits, queries: count.queries + 1 };
  const keys = sum(Object.values(input.RequestItems ?? { one: {} }).map((each) => each.Keys?.length ?? 1));
  return { ...count, repeats, readUnits, gets: count.gets + 1, keys: count.keys + keys };
}

function afterWrite(count: Traffic, capacity: readonly ConsumedCapacity[]): Traffic {
  const units = sum(capacity.map((each) => each.Table?.CapacityUnits));
  const indexes = { ...count.indexes };
  for (const [name, { CapacityUnits = 0 }] of capacity.flatMap((each) =>
    Object.entries(each.GlobalSecondaryIndexes ?? {}),
  )) {
    const before = indexes[name] ?? { writes: 0, units: 0 };
    if (CapacityUnits > 0) indexes[name] = { writes: before.writes + 1, units: before.units + CapacityUnits };
  }
  return {
    ...count,
    writes: count.writes + 1,
    reportedWrites: count.reportedWrites + (units > 0 ? 1 : 0),
    writeUnits: count.writeUnits + units,
    indexes,
  };
}

function sum(numbers: readonly (number | undefined)[]): number {
  return numbers.reduce<number>((total, each) => total + (each ?? 0), 0);
}
