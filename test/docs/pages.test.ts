/** The pages say what the code says: links lead somewhere, examples are taken, tables are complete. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/endpoints.ts';
import { STATES } from '../../lib/domain/intent.ts';
import { parseRoutes } from '../../lib/platform/config.ts';
import { ENV } from '../../lib/platform/names.ts';
import { VIEW_FAULTS, WRITE_FAULTS } from '../../lib/simulators/medium-faults.ts';
import { REWRITES } from '../../lib/simulators/medium-rewrites.ts';
import { fencesOf, linksOf } from '../support/documents.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGES = [
  'README.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
];

describe.each(PAGES)('%s', (page) => {
  const text = read(page);

  test('links to what exists', () => {
    const broken = linksOf(text).filter((target) => !/^https:/.test(target) && !exists(page, target));
    expect(broken).toEqual([]);
  });

  test('stands alone: no path outside, no fence left open', () => {
    expect(text.match(/\/work\/|\/tmp\/|\.\.\/shared|\.library/g)).toBeNull();
    expect((text.match(/^```/gm) ?? []).length % 2).toBe(0);
  });

  test('runs no package of a stranger: the name kakutei at the public registry is not ours', () => {
    expect(text.match(/npx (?!--no -- )kakutei|npm exec(?! --no -- ) kakutei/g)).toBeNull();
  });
});

test('the configuration shown is taken as it stands', () => {
  const [example] = fencesOf(read('docs/configuration.md')).filter((fence) => fence.info === 'json routes');
  const [route] = parseRoutes(example?.text ?? '');
  const { policy, ...fields } = route ?? { policy: {} };
  const { permission, ...rules } = policy as Record<string, object>;
  const names = [...Object.keys(fields), ...Object.keys(rules)];
  const all = [...names, ...Object.keys(permission ?? {}).map((name) => `permission.${name}`)];
  expect(all.length).toBeGreaterThan(18);
  expect(all.filter((name) => !read('docs/configuration.md').includes(`\`${name}\``))).toEqual([]);
  expect(Object.values(ENV).filter((name) => !read('docs/configuration.md').includes(name))).toEqual([]);
});

test('every log event has its line, and no line is without an event', () => {
  const sources = ['functions', 'lib/workflow', 'lib/operations'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((file) => read(join(folder, file))),
  );
  const logged = sources.flatMap((source) =>
    [...source.matchAll(/\blog(?:\(\))?\(\s*'(?:info|warn|error)',\s*'([a-z_]+)'/g)].map((match) => match[1]),
  );
  // Named by the reason that the audit found.
  const all = new Set([...logged, 'second_effect', 'contrary_evidence']);
  const told = [...read('docs/operations.md').matchAll(/^\| `([a-z_]+)` *\| (?:info|warn|error) /gm)];
  expect(new Set(told.map((match) => match[1]))).toEqual(all);
});

test('the API page names every endpoint with its scope, and every state', () => {
  const page = read('docs/api.md');
  const rows = endpoints.map(({ method, path, scope }) => ({
    path: `${method} ${path}`,
    scope: scope === null ? 'none' : `\`${scope}\``,
  }));
  const missing = rows.filter(
    ({ path, scope }) =>
      !page.split('\n').some((line) => line.startsWith(`| \`${path}`) && line.includes(scope)),
  );
  expect(missing).toEqual([]);
  expect(STATES.filter((state) => !page.includes(`\`${state}\``))).toEqual([]);
});

test('the promise page names every field of a promise', () => {
  const source = read('lib/domain/promise.ts');
  const declared = /export interface ProviderPromise \{(.*?)^\}/ms.exec(source)?.[1] ?? '';
  const fields = [...declared.matchAll(/readonly (\w+)\??:/g)].map((match) => match[1] ?? '');
  const page = read('docs/promises.md');
  expect(fields.length).toBeGreaterThan(15);
  expect(fields.filter((field) => !new RegExp(`[\`.]${field}\``).test(page))).toEqual([]);
});

test('the page on publishing names all that the simulated medium can do wrong', () => {
  const page = read('docs/publishing.md');
  const words = [...Object.keys(WRITE_FAULTS), ...Object.keys(VIEW_FAULTS), ...REWRITES];
  expect(words.length).toBeGreaterThan(30);
  expect(words.filter((word) => !page.includes(`\`${word}\``))).toEqual([]);
});

test('the adapter shown compiles against the port, and is under 100 lines', () => {
  const [example] = fencesOf(read('docs/providers.md')).filter((fence) => fence.info === 'ts adapter');
  const text = example?.text ?? '';
  expect(text.split('\n').length).toBeLessThan(100);
  const faults = compiler();
  expect(faults(text)).toEqual([]);
  expect(faults(text.replace("kind: 'shipment',", ''))).not.toEqual([]);
});

describe('decisions', () => {
  const files = readdirSync(join(ROOT, 'docs/decisions')).sort();

  test('are numbered without a gap', () => {
    expect(files.map((file) => Number(file.slice(0, 3)))).toEqual(files.map((_, index) => index + 1));
  });

  test.each(files)('%s tells the problem, the choice and what was not chosen', (file) => {
    const text = read(join('docs/decisions', file));
    expect(text).toMatch(new RegExp(`^# ${file.slice(0, 3)}\\. `));
    for (const part of ['Problem.', 'Choice.', 'Not chosen.']) expect(text).toContain(`**${part}**`);
  });
});

/** What the compiler says of an adapter that stands in lib/providers. */
function compiler(): (adapter: string) => string[] {
  const file = join(ROOT, 'lib/providers/documented.ts').replaceAll('\\', '/');
  const config = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile).config as object;
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  let program: ts.Program | undefined;
  return (adapter) => {
    const host = ts.createCompilerHost(options);
    const { getSourceFile, fileExists } = host;
    host.fileExists = (name) => name === file || fileExists(name);
    host.getSourceFile = (name, ...rest) => {
      if (name === file) return ts.createSourceFile(name, adapter, ts.ScriptTarget.Latest);
      return program?.getSourceFile(name) ?? getSourceFile(name, ...rest);
    };
    program = ts.createProgram([file], options, host, program);
    const source = program.getSourceFile(file);
    const faults = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return faults.map((each) => ts.flattenDiagnosticMessageText(each.messageText, ' '));
  };
}

function exists(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(file) || anchor === undefined) return existsSync(file);
  const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^a-z0-9 -]/g, '')
      .replaceAll(' ', '-'),
  );
  return headings.includes(anchor);
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
