/**
 * Floors to hold the product's speed against: what the same requests cost when nothing is decided in between.
 * `whole` plays the ledger requests of one intent in their order, one after the other, with the low-level client
 * (no marshalling, no parsing), and makes the same POST and GET at the warehouse on connections kept alive.
 * `ledgerOnly` leaves the warehouse out. `putAndUpdate` is the first conditional put and the first update alone.
 */
import { createHash } from 'node:crypto';
import { Agent, type RequestOptions, request } from 'node:http';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DUE_SHARDS } from '../../lib/ledger/ledger.ts';
import { type Names, play, type Recorded, type Tape } from './tape.ts';
import type { Warehouse } from './workbench.ts';

export interface BareClients {
  readonly whole: () => Promise<void>;
  readonly ledgerOnly: () => Promise<void>;
  readonly putAndUpdate: () => Promise<void>;
  readonly close: () => void;
}

/** Each on a table of its own, so that what one leaves behind slows no other. */
export interface BareTables {
  readonly whole: string;
  readonly ledgerOnly: string;
  readonly putAndUpdate: string;
}

export function bareClients(
  client: DynamoDBClient,
  tape: Tape,
  tables: BareTables,
  warehouse: Warehouse,
): BareClients {
  const agent = new Agent({ keepAlive: true });
  const write = tape.requests.findIndex(isUpdate);
  const lastRead = tape.requests.findLastIndex((each) => each.operation === 'GetItem');
  if (write < 0 || lastRead < 0) throw new Error('Cannot play the tape: it holds no claim or no readback');
  let made = 0;
  const nextNames = (table: string): Names => {
    made += 1;
    return { ...namesOf(tape.names, made), table };
  };
  const ledger = async (names: Names, from: number, to: number): Promise<void> => {
    for (let index = from; index < to; index += 1) await play(client, tape, index, names);
  };
  const { length } = tape.requests;
  return {
    whole: async () => {
      const names = nextNames(tables.whole);
      // The second read in send is the last one before the POST; the result is the next update.
      const result = write + 1 + tape.requests.slice(write + 1).findIndex(isUpdate);
      await ledger(names, 0, result);
      await post(agent, warehouse, names.order);
      await ledger(names, result, lastRead + 1);
      await get(agent, warehouse, names.order);
      await ledger(names, lastRead + 1, length);
    },
    ledgerOnly: () => ledger(nextNames(tables.ledgerOnly), 0, length),
    putAndUpdate: async () => {
      const names = nextNames(tables.putAndUpdate);
      await play(client, tape, 0, names);
      await play(client, tape, write, names);
    },
    close: () => agent.destroy(),
  };
}

function isUpdate(recorded: Recorded): boolean {
  return recorded.operation === 'UpdateItem';
}

function namesOf(like: Names, number: number): Omit<Names, 'table'> {
  const hash = createHash('sha256').update(`bare-${number}`).digest('hex');
  return {
    intentId: `int_${hash.slice(0, 40)}`,
    order: `BARE-${number}`.padEnd(like.order.length, '-'),
    externalId: `B-${hash}`.slice(0, like.externalId.length),
    shard: number % DUE_SHARDS,
    at: like.at + number,
  };
}

function post(agent: Agent, warehouse: Warehouse, order: string): Promise<void> {
  const body = JSON.stringify({ order_id: order, sku: 'TEA-01', quantity: 2 });
  const headers = { 'content-type': 'application/json', 'idempotency-key': order };
  return ask(`${warehouse.url}/reservations`, agent, 'POST', warehouse.writeToken, headers, body);
}

function get(agent: Agent, warehouse: Warehouse, order: string): Promise<void> {
  return ask(`${warehouse.url}/orders/${order}`, agent, 'GET', warehouse.readToken, {}, undefined);
}

function ask(
  url: string,
  agent: Agent,
  method: string,
  token: string,
  headers: Record<string, string>,
  body: string | undefined,
): Promise<void> {
  const options: RequestOptions = {
    agent,
    method,
    headers: { ...headers, authorization: `Bearer ${token}` },
  };
  return new Promise((resolve, reject) => {
    const asked = request(url, options, (answer) => {
      const { statusCode = 0 } = answer;
      answer.resume().once('end', () => {
        if (statusCode < 300) resolve();
        else reject(new Error(`The warehouse answered ${statusCode}`));
      });
    });
    asked.on('error', (error) => {
      // The server closed a connection that was idle, just as it was taken again; the key makes it one reservation.
      if (asked.reusedSocket) resolve(ask(url, agent, method, token, headers, body));
      else reject(error);
    });
    asked.end(body);
  });
}
