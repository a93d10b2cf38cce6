/** The demo's input: one order a line, as a caller would submit it. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';

const line = z.strictObject({
  route: z.string().min(1),
  key: z.string().min(1),
  /** Who submits it; the ready-made submitter when left out. */
  caller: z.enum(['desk', 'worker', 'phone']).optional(),
  payload: z.record(z.string(), z.unknown()),
});

export type Order = z.infer<typeof line>;

export class BadOrders extends Error {
  override readonly name = 'BadOrders';
}

/** Orders by key, in file order. Throws `BadOrders` naming the first line that is not one. */
export function readOrders(file: string): ReadonlyMap<string, readonly Order[]> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new BadOrders(`Cannot read ${file}.`);
  }
  const orders = text.split('\n').flatMap((each, index) => {
    if (each.trim() === '') return [];
    const parsed = line.safeParse(safely(each));
    if (!parsed.success) throw new BadOrders(`${file}, line ${index + 1}: not an order.`);
    return [parsed.data];
  });
  if (orders.length === 0) throw new BadOrders(`${file} holds no order.`);
  return Map.groupBy(orders, (order) => order.key);
}

function safely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
