import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amountOf,
  compareDecimals,
  type Decimal,
  lineTotal,
  minorDigitsOf,
  quantityOf,
  sumOf,
} from '../../lib/domain/money.ts';

const said = (value: Decimal) => (value.kind === 'exact' ? value.text : `refused: ${value.reason}`);

interface Row {
  readonly text: string;
  readonly of: string;
  readonly is: string;
  readonly because: string;
}

describe('an amount', () => {
  it.each<Row>([
    { text: '11', of: 'JPY', is: '11', because: 'the yen has no smaller part' },
    { text: '11.0', of: 'JPY', is: '11', because: 'a zero behind the point says nothing' },
    { text: '11', of: 'EUR', is: '11.00', because: 'it is written at the scale of its currency' },
    { text: '11.5', of: 'EUR', is: '11.50', because: 'it is written at the scale of its currency' },
    { text: '11.000', of: 'EUR', is: '11.00', because: 'needless zeros are no other amount' },
    { text: '1.2345', of: 'KWD', is: 'refused: too_fine', because: 'the dinar has three decimals' },
    { text: '1.234', of: 'KWD', is: '1.234', because: 'the dinar has three decimals' },
    { text: '1.25', of: 'MGA', is: '1.25', because: 'ISO 4217 writes the fifths of the ariary with two' },
    { text: '0', of: 'EUR', is: '0.00', because: 'a free sample has a price' },
    { text: '11.005', of: 'EUR', is: 'refused: too_fine', because: 'it would have to be rounded' },
    { text: '11.5', of: 'JPY', is: 'refused: too_fine', because: 'there is no half yen' },
    { text: '-1', of: 'EUR', is: 'refused: not_a_decimal', because: 'nobody orders for less than nothing' },
    { text: '-0', of: 'EUR', is: 'refused: not_a_decimal', because: 'zero has one spelling' },
    { text: '+1', of: 'EUR', is: 'refused: not_a_decimal', because: 'a sign is a second spelling' },
    { text: '1e3', of: 'EUR', is: 'refused: not_a_decimal', because: 'people do not read exponents' },
    { text: ' 1', of: 'EUR', is: 'refused: not_a_decimal', because: 'white space is a second spelling' },
    { text: '1\n', of: 'EUR', is: 'refused: not_a_decimal', because: '"$" must not stop before a line end' },
    { text: '', of: 'EUR', is: 'refused: not_a_decimal', because: 'nothing is no amount' },
    { text: '1.', of: 'EUR', is: 'refused: not_a_decimal', because: 'a point needs a digit behind it' },
    { text: '.5', of: 'EUR', is: 'refused: not_a_decimal', because: 'a point needs a digit before it' },
    { text: '007', of: 'EUR', is: 'refused: not_a_decimal', because: 'a code like 007 is no number' },
    { text: '1,000', of: 'EUR', is: 'refused: not_a_decimal', because: 'a comma means two things' },
    { text: '１', of: 'JPY', is: 'refused: not_a_decimal', because: 'full-width digits look alike' },
    { text: 'NaN', of: 'EUR', is: 'refused: not_a_decimal', because: 'it is none' },
    { text: '9'.repeat(15), of: 'JPY', is: '9'.repeat(15), because: 'the limit itself is taken' },
    { text: '9'.repeat(16), of: 'JPY', is: 'refused: too_many_digits', because: 'it is over the limit' },
    { text: `1.${'0'.repeat(31)}`, of: 'EUR', is: 'refused: too_many_digits', because: 'it is too long' },
    { text: '1', of: 'eur', is: 'refused: unknown_currency', because: 'codes are in capitals' },
    { text: '1', of: 'XXQ', is: 'refused: unknown_currency', because: 'ISO 4217 has no such code' },
    {
      text: '1',
      of: 'toString',
      is: 'refused: unknown_currency',
      because: 'a name of JavaScript is no code',
    },
  ])('"$text" $of is $is, because $because', ({ text, of, is }) => {
    expect(said(amountOf(text, of))).toBe(is);
  });

  it('knows the minor units of ISO 4217', () => {
    const codes = ['JPY', 'EUR', 'KWD', 'CLF', 'MRU', 'ISK', 'BTC'];
    expect(codes.map(minorDigitsOf)).toEqual([0, 2, 3, 4, 2, 0, null]);
  });
});

describe('a quantity', () => {
  it.each<Row>([
    { text: '2', of: 'piece', is: '2', because: 'pieces are whole' },
    { text: '2.0', of: 'piece', is: '2', because: 'it is whole all the same' },
    { text: '2.5', of: 'piece', is: 'refused: too_fine', because: 'there is no half piece' },
    { text: '2.500', of: 'kg', is: '2.5', because: 'zeros at the end say nothing' },
    { text: '10', of: 'kg', is: '10', because: 'zeros before the point do' },
    { text: '0.001', of: 'm', is: '0.001', because: 'the smallest is a millimetre' },
    { text: '0.0001', of: 'm', is: 'refused: too_fine', because: 'the smallest is a millimetre' },
    { text: '0', of: 'piece', is: 'refused: zero', because: 'nothing is not ordered' },
    { text: '0.000', of: 'kg', is: 'refused: zero', because: 'nothing is not ordered' },
    { text: '-2', of: 'piece', is: 'refused: not_a_decimal', because: 'nothing is given back by an order' },
    { text: '1', of: 'box', is: 'refused: unknown_unit', because: 'nobody here knows how much a box is' },
    { text: '1', of: 'constructor', is: 'refused: unknown_unit', because: 'a name of JavaScript is no unit' },
  ])('"$text" $of is $is, because $because', ({ text, of, is }) => {
    expect(said(quantityOf(text, of))).toBe(is);
  });
});

describe('arithmetic is exact or refused', () => {
  it.each([
    {
      quantity: '3',
      price: '0.10',
      currency: 'EUR',
      is: '0.30',
      because: 'no float makes 0.30000000000000004',
    },
    { quantity: '2.5', price: '1.10', currency: 'EUR', is: '2.75', because: 'it comes out even' },
    {
      quantity: '2.5',
      price: '1.11',
      currency: 'EUR',
      is: 'refused: too_fine',
      because: '2.775 is no amount',
    },
    {
      quantity: '0.5',
      price: '3',
      currency: 'JPY',
      is: 'refused: too_fine',
      because: 'there is no half yen',
    },
    { quantity: '0.5', price: '4', currency: 'JPY', is: '2', because: 'it comes out even' },
    {
      quantity: '9'.repeat(15),
      price: '9',
      currency: 'JPY',
      is: 'refused: too_many_digits',
      because: 'a product has the same limit',
    },
    { quantity: 'x', price: '9', currency: 'JPY', is: 'refused: not_a_decimal', because: 'it is none' },
  ])('$quantity × $price $currency is $is, because $because', ({ quantity, price, currency, is }) => {
    expect(said(lineTotal(quantity, price, currency))).toBe(is);
  });

  it('a sum has the scale of its currency, and of nothing it is zero', () => {
    expect(said(sumOf(['0.10', '0.20', '1'], 'EUR'))).toBe('1.30');
    expect(said(sumOf([], 'EUR'))).toBe('0.00');
    expect(said(sumOf(['1', '-1'], 'EUR'))).toBe('refused: not_a_decimal');
    expect(said(sumOf(['9'.repeat(15), '1'], 'JPY'))).toBe('refused: too_many_digits');
  });

  it('comparing goes by value, and what is no decimal is neither more nor less', () => {
    const pairs = [
      ['2.50', '2.5'],
      ['9.99', '10'],
      ['10', '9.99'],
      ['x', '1'],
      ['1', ''],
    ] as const;
    expect(pairs.map(([one, other]) => compareDecimals(one, other))).toEqual([
      0,
      -1,
      1,
      undefined,
      undefined,
    ]);
  });

  /** The same amounts in smallest parts, by whole numbers that cannot round. */
  const cents = fc.bigInt({ min: 0n, max: 10n ** 14n });
  const text = (amount: bigint) => {
    const digits = String(amount).padStart(3, '0');
    return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
  };

  it('agrees with whole numbers of cents', () => {
    fc.assert(
      fc.property(fc.array(cents, { maxLength: 9 }), (amounts) => {
        const sum = amounts.reduce((a, b) => a + b, 0n);
        expect(said(sumOf(amounts.map(text), 'EUR'))).toBe(text(sum));
      }),
    );
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 99_999n }),
        fc.bigInt({ min: 0n, max: 10n ** 9n }),
        (n, price) => {
          const grams = `${n / 1000n}.${String(n % 1000n).padStart(3, '0')}`;
          const exact = (n * price) % 1000n === 0n ? text((n * price) / 1000n) : 'refused: too_fine';
          expect(said(lineTotal(grams, text(price), 'EUR'))).toBe(exact);
        },
      ),
    );
  });

  it('an amount once written is written the same again', () => {
    fc.assert(
      fc.property(cents, fc.constantFrom('EUR', 'KWD', 'CLF'), (amount, currency) => {
        const once = said(amountOf(text(amount), currency));
        expect(said(amountOf(once, currency))).toBe(once);
      }),
    );
  });
});
