/** The payload of an order: strict, its money and quantities in one spelling, its total the sum of its lines. */
import * as z from 'zod';
import type { JsonObject } from '../domain/intent.ts';
import {
  amountOf,
  type Decimal,
  type DecimalRefusal,
  lineTotal,
  MOST_CHARS,
  minorDigitsOf,
  quantityOf,
  sumOf,
  UNITS,
} from '../domain/money.ts';

export const purchaseOrder = z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'letters, digits, ".", "_" and "-"');

const text = (most: number) => z.string().min(1).max(most);
const decimal = text(MOST_CHARS);
const unit = z.enum(Object.keys(UNITS) as (keyof typeof UNITS)[]);

export const shipTo = z.strictObject({
  name: text(200),
  street: text(200),
  city: text(200),
  postal_code: text(32),
  country: z.string().regex(/^[A-Z]{2}$/, 'two capital letters'),
});

/** @param mostLines the longest order that this supplier's promise covers. */
export function orderPayload(mostLines: number) {
  const line = z.strictObject({ sku: text(64), quantity: decimal, unit, unit_price: decimal });
  return z
    .strictObject({
      purchase_order: purchaseOrder,
      ship_to: shipTo,
      lines: z
        .array(line)
        .min(1)
        .max(mostLines, `at most ${mostLines} lines: the supplier promises nothing for more`),
      currency: z.string().refine((code) => minorDigitsOf(code) !== null, 'no ISO 4217 code'),
      total: decimal,
    })
    .transform((order, ctx): JsonObject => {
      const refuse = (path: PropertyKey[], message: string) =>
        ctx.addIssue({ code: 'custom', path, message, input: order });
      const exact = (path: PropertyKey[], value: Decimal): string => {
        if (value.kind === 'exact') return value.text;
        refuse(path, WHY[value.reason]);
        return '0';
      };
      const { currency } = order;
      const lines = order.lines.map((each, at) => ({
        ...each,
        quantity: exact(['lines', at, 'quantity'], quantityOf(each.quantity, each.unit)),
        unit_price: exact(['lines', at, 'unit_price'], amountOf(each.unit_price, currency)),
      }));
      const total = exact(['total'], amountOf(order.total, currency));
      if (ctx.issues.length > 0) return z.NEVER;
      const parts = lines.map((each, at) =>
        exact(['lines', at], lineTotal(each.quantity, each.unit_price, currency)),
      );
      const sum = exact(['total'], sumOf(parts, currency));
      if (ctx.issues.length === 0 && sum !== total) refuse(['total'], 'not the sum of the lines');
      return ctx.issues.length > 0 ? z.NEVER : { ...order, lines, total };
    });
}

const WHY: Readonly<Record<DecimalRefusal, string>> = {
  unknown_currency: 'no ISO 4217 code',
  unknown_unit: 'no unit known here',
  not_a_decimal: 'digits with at most one "." between them, without sign or exponent',
  too_many_digits: 'too many digits',
  too_fine: 'finer than the smallest part of its currency or unit',
  zero: 'must be above zero',
};
