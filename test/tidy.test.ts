/** House rules that no linter knows: purity, size, names. Every exception stands here with its reason. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { impuritiesIn } from './support/impurities.ts';

const ROOT = resolve(import.meta.dirname, '..');
const SOURCES = ['cdk', 'functions', 'lib'].flatMap(filesIn);

describe('time, chance, identity and settings come in as arguments', () => {
  /** The development stack and the simulators are made of processes, ports and clocks. */
  const EXEMPT = /^lib\/(platform|local|simulators)\//;
  const ALLOWED: Readonly<Record<string, readonly string[]>> = {
    // Deadlines of sockets: their own timers, never the logic's.
    'lib/providers/transport.ts': ['setTimeout'],
    // The one way to look outside.
    'lib/providers/bounded-fetch.ts': ['fetch'],
  };

  test.each([
    ['const at = Date.now();', ['Date.now']],
    ['const at = new Date().toISOString();', ['new Date()']],
    ['const at = Date();', ['Date()']],
    ['const n = Math.random();', ['Math.random']],
    ['const id = crypto.randomUUID();', ['randomUUID']],
    ['const { TABLE } = process.env;', ['process.env']],
    ['const t = performance.now();', ['performance.now']],
    ['setTimeout(() => undefined, 5);', ['setTimeout']],
    ['const text = new Date(ms).toISOString(); // Date.now()', []],
    ["const words = 'process.env';", []],
    ['const now = clock.now();', []],
  ])('in %s it finds %j', (source, expected) => {
    expect(impuritiesIn(source)).toEqual(expected);
  });

  test('nothing but lib/platform asks the machine', () => {
    const looked = SOURCES.filter((file) => !EXEMPT.test(file));
    expect(looked.length).toBeGreaterThan(50);
    const found = looked.flatMap((file) =>
      impuritiesIn(read(file))
        .filter((impurity) => ALLOWED[file]?.includes(impurity) !== true)
        .map((impurity) => `${file}: ${impurity}`),
    );
    expect(found).toEqual([]);
  });

  test('no exception outlives its use', () => {
    const unused = Object.entries(ALLOWED).flatMap(([file, allowed]) =>
      allowed.filter((impurity) => !impuritiesIn(read(file)).includes(impurity)),
    );
    expect(unused).toEqual([]);
  });
});

describe('files are short', () => {
  const MOST_LINES = 200;
  /** Longer ones, the most they may have, and why they are not two. */
  const LONGER: Readonly<Record<string, { readonly most: number; readonly because: string }>> = {
    'lib/providers/transport.ts': {
      most: 250,
      because: 'the one place that writes to a socket, read in one piece by whoever must trust it',
    },
    'lib/simulators/warehouse.ts': {
      most: 230,
      because: 'a server of its own that shares nothing, with every fault it can play',
    },
    'lib/simulators/warehouse-book.ts': {
      most: 350,
      because: 'the schema of the book with all its statements',
    },
  };
  const lengths = new Map(SOURCES.map((file) => [file, read(file).trimEnd().split('\n').length]));

  test(`at most ${MOST_LINES} lines, or on the list with a reason`, () => {
    const long = [...lengths].filter(([file, lines]) => lines > (LONGER[file]?.most ?? MOST_LINES));
    expect(long).toEqual([]);
  });

  test('the list is short, and names only what needs it', () => {
    const needless = Object.keys(LONGER).filter((file) => (lengths.get(file) ?? 0) <= MOST_LINES);
    expect(needless).toEqual([]);
    expect(Object.keys(LONGER).length).toBeLessThanOrEqual(8);
  });
});

describe('names say what a thing is', () => {
  const EMPTY_WORDS = /(^|[-/.])(utils?|helpers?|managers?|common|misc)([-/.]|$)/;
  const TOP_LEVEL = [
    ...['.ci', '.gitignore', 'cdk', 'docs', 'examples', 'functions', 'lib', 'test'],
    ...['CHANGELOG.md', 'LICENSE', 'README.md'],
    ...[
      'biome.json',
      'cdk.json',
      'knip.json',
      'package-lock.json',
      'package.json',
      'redocly.yaml',
      'routes.json',
    ],
    ...['tsconfig.json', 'vitest.config.ts'],
  ];
  /** Made by tools or by running; none of it is kept in version control. */
  const GENERATED = ['.git', '.kakutei', 'cdk.out', 'coverage', 'node_modules'];

  test.each(['lib/util.ts', 'lib/time-utils.ts', 'lib/common/x.ts', 'lib/run-manager.ts'])(
    '%s would be refused',
    (file) => expect(file).toMatch(EMPTY_WORDS),
  );

  test('no file or folder has a name that would fit any other', () => {
    const all = [...SOURCES, ...filesIn('test')];
    expect(all.filter((file) => EMPTY_WORDS.test(file))).toEqual([]);
  });

  test('files are in kebab-case', () => {
    const all = [...SOURCES, ...filesIn('test')];
    const odd = all.filter((file) => !/^([a-z0-9]+(-[a-z0-9]+)*[./])+[a-z0-9]+$/.test(file));
    expect(odd).toEqual([]);
  });

  test('nothing else lies at the top', () => {
    const others = readdirSync(ROOT).filter((name) => ![...TOP_LEVEL, ...GENERATED].includes(name));
    expect(others).toEqual([]);
  });
});

function filesIn(folder: string): string[] {
  return (
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      // A package of its own may be installed below the tests.
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(ROOT.length + 1)
          .replaceAll(sep, '/'),
      )
  );
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
