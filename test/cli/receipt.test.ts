/** `kakutei receipt verify`: what is broken is said in one line each, and nothing makes it throw at its user. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { EXAMPLES } from '../../functions/api-examples.ts';
import { receiptDocument } from '../../functions/document-schemas.ts';
import { main } from '../../lib/cli/kakutei.ts';
import { MOST_BYTES } from '../../lib/cli/read-json-file.ts';
import { payloadDigest } from '../../lib/domain/fingerprint.ts';
import type { JsonObject } from '../../lib/domain/intent.ts';
import { receiptDigest } from '../../lib/domain/receipt-digest.ts';
import { receiptDocumentOf } from '../../lib/operations/receipt-document.ts';
import { fencesOf } from '../support/documents.ts';
import { IN_STATE, intentOf } from '../support/kit.ts';
import { runProgram } from '../support/run-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'kakutei-cli-'));
const PAYLOAD = { order_id: 'PO-37', sku: 'TEA-01', quantity: 2 };
const RECEIPT = receiptOf(PAYLOAD);
let files = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As the service answers it. */
function receiptOf(payload: JsonObject): JsonObject {
  const { receipt } = IN_STATE.confirmed;
  if (receipt === null) throw new Error('The confirmed intent has no receipt.');
  const digest = payloadDigest(payload);
  const intent = { ...IN_STATE.confirmed, payload, receipt: { ...receipt, payloadDigest: digest } };
  return { ...receiptDocumentOf(intent) };
}

/** Changed by somebody who knows how a digest is made. */
function forged(change: JsonObject): JsonObject {
  const made = { ...RECEIPT, ...change };
  return { ...made, digest: receiptDigest(made) };
}

function without(name: string): JsonObject {
  const { [name]: _gone, ...rest } = RECEIPT;
  return { ...rest, digest: receiptDigest(rest) };
}

function fileOf(content: unknown): string {
  files += 1;
  const file = join(folder, `${files}.json`);
  writeFileSync(file, isBytes(content) ? content : JSON.stringify(content));
  return file;
}

function isBytes(content: unknown): content is string | Uint8Array {
  return typeof content === 'string' || content instanceof Uint8Array;
}

async function run(args: readonly string[], stdin: readonly (string | Uint8Array)[] = []) {
  const out: string[] = [];
  const err: string[] = [];
  async function* chunks() {
    for (const chunk of stdin) yield Buffer.from(chunk);
  }
  const terminal = {
    stdin: chunks(),
    settings: {},
    out: (line: string) => void out.push(line),
    err: (line: string) => void err.push(line),
  };
  return { code: await main(args, terminal), out, err };
}

const verify = (...args: readonly string[]) => run(['receipt', 'verify', ...args]);

describe('a receipt that holds', () => {
  test('is told with what it is a receipt for: exit code 0', async () => {
    expect(await verify(fileOf(RECEIPT))).toEqual({
      code: 0,
      out: [
        `holds: ${intentOf().id} is "R-1" at "tokyo-1", read back 2026-11-30T09:00:00.000Z`,
        'payload: not compared; --payload <file> compares it',
        `digest ${RECEIPT['digest']}: the service must answer the same one`,
      ],
      err: [],
    });
  });

  test.each([
    ['spread over lines', JSON.stringify(RECEIPT, null, 4)],
    ['in another order', JSON.stringify(Object.fromEntries(Object.entries(RECEIPT).reverse()))],
    ['with a byte order mark', `\ufeff${JSON.stringify(RECEIPT)}`],
    ['as the API document shows one', JSON.stringify(exampleReceipt())],
    [
      'with a public page and a parent',
      JSON.stringify(forged({ url: 'https://example.org/1', parent: 'R-0' })),
    ],
    ['that no attempt of ours led to', JSON.stringify(forged({ attempts: 0 }))],
  ])('holds %s', async (_, text) => {
    expect(await verify(fileOf(text))).toMatchObject({ code: 0, err: [] });
  });

  test('can come from standard input, in pieces', async () => {
    const text = JSON.stringify(RECEIPT);
    const pieces = [text.slice(0, 7), text.slice(7, 90), text.slice(90)];
    expect(await run(['receipt', 'verify', '-'], pieces)).toMatchObject({ code: 0 });
    expect(await run(['receipt', 'verify', '-'], [text.slice(0, 90)])).toMatchObject({ code: 1 });
  });

  test('is one object with --json', async () => {
    const { code, out } = await verify(fileOf(RECEIPT), '--json');
    expect({ code, out: out.map((line) => JSON.parse(line)) }).toEqual({
      code: 0,
      out: [
        {
          ...{ holds: true, broken: [], intentId: RECEIPT['intentId'], externalId: 'R-1' },
          ...{ readAt: RECEIPT['readAt'], payloadCompared: false, digest: RECEIPT['digest'] },
        },
      ],
    });
  });
});

function exampleReceipt(): unknown {
  return EXAMPLES.find((each) => each.operation === 'receipt' && each.status === 200)?.answer;
}

/** A value of the right form that is not the receipt's. */
const OTHERS: JsonObject = {
  schema: 'kakutei-receipt/v3',
  intentId: `int_${'1'.repeat(40)}`,
  key: 'PO-38',
  route: 'other',
  account: 'osaka-1',
  environment: 'production',
  action: 'cancel',
  parent: 'R-0',
  fingerprint: `fp1:${'1'.repeat(64)}`,
  payloadDigest: '1'.repeat(64),
  externalId: 'R-2',
  url: 'https://example.org/2',
  checks: { account: true, sku: true },
  readAt: '2026-11-30T09:00:00.001Z',
  promiseClass: 'blind',
  searchedWhole: false,
  attempts: 7,
  digest: '1'.repeat(64),
};

describe('every member', () => {
  test('has its other value here', () => {
    expect(Object.keys(OTHERS).sort()).toEqual(Object.keys(RECEIPT).sort());
  });

  test.each(Object.keys(OTHERS))('%s: another value under the old digest does not hold', async (name) => {
    const { code, out } = await verify(fileOf({ ...RECEIPT, [name]: OTHERS[name] ?? null }));
    expect(code).toBe(1);
    expect(out).toEqual([
      expect.stringMatching(name === 'schema' ? /^broken: schema: / : /^broken: digest: /),
    ]);
  });

  test.each(Object.keys(OTHERS).filter((name) => name !== 'digest'))(
    '%s: missing is told, also with a digest that fits',
    async (name) => {
      expect(await verify(fileOf(without(name)))).toMatchObject({
        code: 1,
        out: [`broken: ${name}: is missing`],
      });
    },
  );

  test('digest: missing is told', async () => {
    const { digest: _digest, ...rest } = RECEIPT;
    expect(await verify(fileOf(rest))).toMatchObject({ code: 1, out: ['broken: digest: is missing'] });
  });

  test.each(Object.keys(OTHERS))('%s: of another form is told', async (name) => {
    for (const value of [[], {}, 17.5, '']) {
      const made = { ...RECEIPT, [name]: value };
      const { code, out } = await verify(fileOf(name === 'digest' ? made : forged({ [name]: value })));
      expect({ code, first: out[0] }).toEqual({
        code: 1,
        first: expect.stringMatching(`^broken: ${name}: is (not )?`),
      });
    }
  });

  /** Two descriptions of one document: what one takes the other takes. */
  test('is taken here as the API document describes it', async () => {
    const documents = [
      RECEIPT,
      exampleReceipt(),
      ...Object.keys(RECEIPT).flatMap((name) => [without(name), forged({ [name]: [] })]),
      forged({ tenant: 'acme' }),
      forged({ environment: 'staging' }),
      forged({ attempts: 1.5 }),
      forged({ readAt: '2026-11-30 09:00' }),
    ];
    for (const each of documents) {
      const { code } = await verify(fileOf(each));
      expect(code === 0, JSON.stringify(each)).toBe(receiptDocument.safeParse(each).success);
    }
  });
});

describe('a broken receipt', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    [
      'a check that failed',
      forged({ checks: { account: true, sku: false } }),
      ['checks."sku": is false: this was not confirmed'],
    ],
    [
      'no check at all',
      forged({ checks: {} }),
      ['checks: is not an object of true and false, with one member at least'],
    ],
    ['a check that is a word', forged({ checks: { account: 'true' } }), ['checks: is not an object of true']],
    ['a member that nobody knows', forged({ note: 'paid' }), ['"note": is no member of a receipt']],
    [
      'a day that does not exist',
      forged({ readAt: '2026-02-30T00:00:00.000Z' }),
      ['readAt: is not a time in UTC'],
    ],
    [
      'several things',
      { ...RECEIPT, key: 5, attempts: -1 },
      ['key: is not a text', 'attempts: is not a whole number', 'digest: does not fit the other members'],
    ],
    [
      'a terminal sequence in a name',
      forged({ '\u001b[2J\u202e': 1 }),
      ['"\\u001b[2J\\u202e": is no member of a receipt'],
    ],
    [
      'the word of the short form',
      forged({ schema: 'kakutei-receipt/v1' }),
      ['schema: is "kakutei-receipt/v1"; only'],
    ],
  ])('with %s is told line by line: exit code 1', async (_, receipt, expected) => {
    const { code, out, err } = await verify(fileOf(receipt));
    expect({ code, err }).toEqual({ code: 1, err: [] });
    expect(out.map((line, at) => line.slice(0, `broken: ${expected[at]}`.length))).toEqual(
      expected.map((each) => `broken: ${each}`),
    );
  });

  test('is one object with --json, and claims nothing of what it is for', async () => {
    const { code, out } = await verify(fileOf(forged({ checks: { sku: false } })), '--json');
    expect({ code, out: out.map((line) => JSON.parse(line)) }).toEqual({
      code: 1,
      out: [{ holds: false, broken: [{ what: 'checks."sku"', why: 'is false: this was not confirmed' }] }],
    });
  });
});

describe('what is no receipt at all', () => {
  test.each<[string, string | Uint8Array, string]>([
    ['nothing', '', 'The file is not one JSON value.'],
    ['a page', '<html></html>', 'The file is not one JSON value.'],
    ['half a receipt', JSON.stringify(RECEIPT).slice(0, -1), 'The file is not one JSON value.'],
    ['a list', '[]', 'is no JSON object'],
    ['null', 'null', 'is no JSON object'],
    [
      'a name that stands twice',
      '{"schema":"a","schema":"a"}',
      'An object in the file names a member twice.',
    ],
    ['a number that would change', '{"attempts":9007199254740993}', 'A number in the file cannot be kept'],
    ['a hidden name', '{"__proto__":{}}', 'An object in the file names a member "__proto__".'],
    ['half a character', '{"key":"\\ud800"}', 'A string in the file holds half a character'],
    ['other bytes than UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'The file is not UTF-8.'],
    ['UTF-16', Buffer.from('{}', 'utf16le'), 'The file is not one JSON value.'],
    ['very deep lists', '['.repeat(MOST_BYTES), 'The file is not one JSON value.'],
    ['one byte too many', ' '.repeat(MOST_BYTES + 1), `The file is longer than ${MOST_BYTES} bytes.`],
  ])('%s is told in one line: exit code 1', async (_, content, expected) => {
    const { code, out, err } = await verify(fileOf(content));
    expect({ code, err, lines: out.length }).toEqual({ code: 1, err: [], lines: 1 });
    expect(out[0]).toMatch(new RegExp(`^broken: receipt: ${expected.replaceAll('.', '\\.')}`));
  });

  test('endless input is left after the limit', async () => {
    let given = 0;
    async function* endless() {
      for (;;) {
        given += 1;
        yield Buffer.alloc(1024);
      }
    }
    const out: string[] = [];
    const terminal = {
      stdin: endless(),
      settings: {},
      out: (line: string) => void out.push(line),
      err: () => undefined,
    };
    expect(await main(['receipt', 'verify', '-'], terminal)).toBe(1);
    expect(given).toBe(MOST_BYTES / 1024 + 1);
  });
});

describe('the payload', () => {
  const multiline = { text: 'Café\nopen', tags: ['a', 1.5, null] };

  test.each<[string, JsonObject, unknown, readonly string[]]>([
    ['that was approved holds', PAYLOAD, PAYLOAD, []],
    ['in another order holds', PAYLOAD, { quantity: 2, sku: 'TEA-01', order_id: 'PO-37' }, []],
    [
      'with other line ends and composition holds',
      multiline,
      { ...multiline, text: 'Cafe\u0301\r\nopen' },
      [],
    ],
    [
      'with another value is told',
      PAYLOAD,
      { ...PAYLOAD, quantity: 3 },
      ['payloadDigest: is not that of this payload'],
    ],
    [
      'with white space more is told',
      multiline,
      { ...multiline, text: 'Café\nopen ' },
      ['payloadDigest: is not'],
    ],
    [
      'inside a whole request is told',
      PAYLOAD,
      { route: 'warehouse', payload: PAYLOAD },
      ['payloadDigest: is not'],
    ],
    ['that is a list is told', PAYLOAD, [PAYLOAD], ['payload: is no JSON object']],
    ['that is no JSON is told', PAYLOAD, '{', ['payload: The file is not one JSON value.']],
    [
      'with two names of one text is told',
      PAYLOAD,
      { é: 1, 'e\u0301': 2 },
      ['payload: has two names that are equal'],
    ],
  ])('%s', async (_, approved, payload, expected) => {
    const { code, out } = await verify(fileOf(receiptOf(approved)), '--payload', fileOf(payload));
    expect(code).toBe(expected.length === 0 ? 0 : 1);
    const broken = out.filter((line) => line.startsWith('broken: '));
    expect(broken.map((line, at) => line.slice(0, `broken: ${expected[at]}`.length))).toEqual(
      expected.map((each) => `broken: ${each}`),
    );
  });

  test('that was compared is told so, in lines and as a member', async () => {
    const args = [fileOf(RECEIPT), '--payload', fileOf(PAYLOAD)];
    const { out } = await verify(...args);
    expect(out).toContain('payload: compared, this receipt is for it');
    const { out: object } = await verify(...args, '--json');
    expect(JSON.parse(object[0] ?? '')).toMatchObject({ holds: true, payloadCompared: true });
  });

  test('is not judged under a text rule that is not known', async () => {
    const receipt = fileOf(forged({ fingerprint: `fp9:${'0'.repeat(64)}` }));
    expect(await verify(receipt)).toMatchObject({ code: 0 });
    expect(await verify(receipt, '--payload', fileOf(PAYLOAD))).toMatchObject({
      code: 1,
      out: ['broken: fingerprint: names the unknown rule "fp9"'],
    });
  });

  test('and the receipt can both be broken', async () => {
    const { out } = await verify(fileOf('x'), '--payload', fileOf('y'));
    expect(out.map((line) => line.split(':')[1])).toEqual([' receipt', ' payload']);
  });

  test('can come from standard input', async () => {
    const args = ['receipt', 'verify', fileOf(RECEIPT), '--payload', '-'];
    expect(await run(args, [JSON.stringify(PAYLOAD)])).toMatchObject({ code: 0 });
    expect(await run(args, ['{}'])).toMatchObject({ code: 1 });
  });
});

describe('wrong use', () => {
  test.each<[readonly string[], RegExp]>([
    [[], /^A command is missing\./],
    [['receipt'], /^There is no command "receipt"\./],
    [['receipt', 'forge'], /^There is no command "receipt forge"\./],
    [['__proto__', 'toString'], /^There is no command/],
    [['receipt', 'verify'], /^Name one receipt\./],
    [['receipt', 'verify', 'a', 'b'], /^Name one receipt\./],
    [['receipt', 'verify', '-', '--payload', '-'], /^Only one file can come from standard input\./],
    [['receipt', 'verify', 'a', '--loud'], /^Unknown option '--loud'/],
    [['receipt', 'verify', 'a', '--payload'], /argument missing/],
    [['receipt', 'verify', join(folder, 'nowhere.json')], /^Cannot read ".*nowhere\.json": ENOENT\./],
    [['receipt', 'verify', folder], /^Cannot read ".*": EISDIR\./],
    [['receipt', 'verify', 'a\0b'], /^Cannot read "a\\u0000b": ERR_INVALID_ARG_VALUE\./],
  ])('%j is exit code 2, with the usage', async (args, message) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: [] });
    expect(err).toEqual([expect.stringMatching(message)]);
    expect(err[0]).toMatch(/\nUsage: kakutei /);
  });

  test.each([['--help'], ['-h'], ['help']])('%s is answered: exit code 0', async (word) => {
    expect(await run([word])).toMatchObject({ code: 0, out: [expect.stringMatching(/^Usage: /)], err: [] });
  });

  test.each([
    ['intent', /^Usage: kakutei intent <verb> \[options\]\n {2}intent dry-run {2}shows /, 'receipt'],
    ['receipt', /^Usage: kakutei receipt <verb> \[options\]\n {2}receipt verify {2}checks /, 'intent'],
  ])('%s lists its verbs and no others, asked for help or without one', async (noun, list, other) => {
    for (const word of ['--help', '-h', 'help']) {
      const { code, out, err } = await run([noun, word]);
      expect({ code, out, err }).toEqual({ code: 0, out: [expect.stringMatching(list)], err: [] });
      expect(out[0]).not.toContain(other);
    }
    const { err } = await run([noun]);
    expect(err[0]?.slice((err[0] ?? '').indexOf('\n') + 1)).toMatch(list);
  });

  test.each([['orders'], ['__proto__'], ['inten']])('%s has no verbs to list: exit code 2', async (noun) => {
    expect(await run([noun, '--help'])).toMatchObject({ code: 2, out: [] });
  });

  test('the verb tells of itself', async () => {
    expect(await verify('--help')).toMatchObject({
      code: 0,
      out: [expect.stringContaining('Exit codes: 0 everything holds, 1 something is broken, 2 nothing')],
    });
  });
});

/** As a package manager links it. */
describe.skipIf(process.platform === 'win32')('the program itself', () => {
  const link = join(folder, 'kakutei');
  symlinkSync(resolve(import.meta.dirname, '../../lib/cli/kakutei.ts'), link);
  const PATH = `${resolve(import.meta.dirname, '../../node_modules/.bin')}:${process.env['PATH']}`;

  function program(
    args: readonly string[],
    stdin = '',
  ): Promise<{ code: number; stdout: string; stderr: string }> {
    return new Promise((done) => {
      const child = execFile(link, args, { env: { ...process.env, PATH } }, (error, stdout, stderr) => {
        done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
      child.stdin?.end(stdin);
    });
  }

  test('starts by its own first line and ends with the exit code', async () => {
    const text = JSON.stringify(RECEIPT);
    expect(await program(['receipt', 'verify', '-'], text)).toMatchObject({ code: 0, stderr: '' });
    const broken = await program(['receipt', 'verify', '-'], text.replace('PO-37', 'PO-38'));
    expect(broken).toEqual({ code: 1, stdout: expect.stringMatching(/^broken: digest: .*\n$/), stderr: '' });
    const wrong = await program([]);
    expect(wrong).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^A command is missing\.\n/),
    });
  });
});

describe('the check without us, as the page on receipts shows it,', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/receipts.md'), 'utf8');
  const [check] = fencesOf(page).filter((fence) => fence.info === 'js receipt');
  const program = join(folder, 'check.mjs');

  test.each<[string, unknown, string]>([
    ['a receipt', RECEIPT, 'holds'],
    [
      'one with other texts than ASCII',
      forged({ parent: 'Café "1"\u0007', url: 'https://example.org/確' }),
      'holds',
    ],
    ['one that was changed', { ...RECEIPT, externalId: 'R-2' }, 'broken'],
    ['one with a check that failed', forged({ checks: { account: true, sku: false } }), 'broken'],
  ])('comes to the same end with %s', async (_, receipt, expected) => {
    writeFileSync(program, check?.text ?? '');
    const file = fileOf(receipt);
    const { stdout } = await runProgram(program, [file]);
    expect(stdout).toBe(`${expected}\n`);
    expect((await verify(file)).code).toBe(expected === 'holds' ? 0 : 1);
  });
});
