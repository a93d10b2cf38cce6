/**
 * Money and quantities as decimal strings, exact or refused: never a float, never rounded. An amount belongs
 * to an ISO 4217 code and is written at that currency's scale ("11" JPY, "11.00" EUR), so that equal amounts
 * are equal texts. A quantity belongs to a unit and is written without trailing zeros ("2.5" kg).
 */
import { Big } from 'big.js';
import * as currencies from 'dinero.js/currencies';

export type DecimalRefusal =
  | 'unknown_currency'
  | 'unknown_unit'
  | 'not_a_decimal'
  | 'too_many_digits'
  /** Finer than the smallest part of its currency or unit. */
  | 'too_fine'
  | 'zero';

/** A decimal in its one spelling, or the first reason why there is none. */
export type Decimal =
  | { readonly kind: 'exact'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: DecimalRefusal };

/** Units of quantities and the decimals each may have. */
export const UNITS = { piece: 0, kg: 3, m: 3 } as const;

/** No sign, no exponent, no needless zero in front: one number has few spellings, and none is clever. */
const DECIMAL = /^(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** Above any order in the smallest currency, and the product of two such numbers is still a short text. */
const MOST_WHOLE_DIGITS = 15;
/** Room for the whole digits, a point and more decimals than any currency has. */
export const MOST_CHARS = 32;

/** A constructor of our own: strict about numbers without changing it for anybody else. */
const Exact = Big();
Exact.strict = true;

/** The fifths of MGA and MRU are written with two decimals, as ISO 4217 lists them. */
const MINOR_DIGITS: ReadonlyMap<string, number> = new Map(
  Object.values(currencies).map(({ code, base, exponent }) => [code, base === 10 ? exponent : 2]),
);

/** Decimals of an ISO 4217 currency (JPY 0, EUR 2, KWD 3); null for a code that is none. */
export function minorDigitsOf(currency: string): number | null {
  return MINOR_DIGITS.get(currency) ?? null;
}

/** An amount of money, zero or more: "11.0" JPY is "11", "11" EUR is "11.00", "11.005" EUR is refused. */
export function amountOf(text: string, currency: string): Decimal {
  const digits = minorDigitsOf(currency);
  if (digits === null) return refused('unknown_currency');
  return atMost(text, digits, (value) => value.toFixed(digits));
}

/** A quantity above zero: whole pieces, kg and m with at most 3 decimals. */
export function quantityOf(text: string, unit: string): Decimal {
  if (!Object.hasOwn(UNITS, unit)) return refused('unknown_unit');
  const quantity = atMost(text, UNITS[unit as keyof typeof UNITS], (value) => value.toFixed());
  return quantity.kind === 'exact' && quantity.text === '0' ? refused('zero') : quantity;
}

/** Quantity × unit price; refused where it is no whole number of the currency's smallest parts. */
export function lineTotal(quantity: string, unitPrice: string, currency: string): Decimal {
  return calculated([quantity, unitPrice], currency, (a, b) => a.times(b));
}

/** The exact sum of amounts of one currency; of none it is zero. */
export function sumOf(amounts: readonly string[], currency: string): Decimal {
  return calculated(['0', ...amounts], currency, (a, b) => a.plus(b));
}

/** By value: "2.50" and "2.5" are equal. Undefined when one of the two is no decimal. */
export function compareDecimals(one: string, other: string): -1 | 0 | 1 | undefined {
  if (badly(one) !== undefined || badly(other) !== undefined) return undefined;
  return new Exact(one).cmp(other);
}

function atMost(text: string, decimals: number, write: (value: Big) => string): Decimal {
  const reason = badly(text);
  if (reason !== undefined) return refused(reason);
  const value = new Exact(text);
  return value.eq(value.toFixed(decimals)) ? { kind: 'exact', text: write(value) } : refused('too_fine');
}

function calculated(texts: readonly string[], currency: string, join: (a: Big, b: Big) => Big): Decimal {
  const reason = texts.map(badly).find((each) => each !== undefined);
  if (reason !== undefined) return refused(reason);
  const [first = new Exact('0'), ...others] = texts.map((text) => new Exact(text));
  return amountOf(others.reduce(join, first).toFixed(), currency);
}

function badly(text: string): 'not_a_decimal' | 'too_many_digits' | undefined {
  if (text.length > MOST_CHARS) return 'too_many_digits';
  if (!DECIMAL.test(text)) return 'not_a_decimal';
  const [whole = ''] = text.split('.', 1);
  return whole.length > MOST_WHOLE_DIGITS ? 'too_many_digits' : undefined;
}

function refused(reason: DecimalRefusal): Decimal {
  return { kind: 'refused', reason };
}
