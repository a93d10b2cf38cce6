import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { newFolder, ROOT } from './synthesised.ts';

const settings = z
  .object({ context: z.record(z.string(), z.unknown()) })
  .parse(JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'))).context;

/** Runs the entry as the CDK command line does. */
async function describeCloud(context: object): Promise<string> {
  const out = newFolder();
  await promisify(execFile)(process.execPath, ['cdk/app.ts'], {
    cwd: ROOT,
    env: { CDK_OUTDIR: out, CDK_CONTEXT_JSON: JSON.stringify(context) },
  });
  return out;
}

test('the entry writes a template from the settings in cdk.json, and the rule packs report nothing', async () => {
  const out = await describeCloud(settings);
  const read = (name: string): unknown => JSON.parse(readFileSync(join(out, name), 'utf8'));
  expect(read('Kakutei.template.json')).toHaveProperty('Resources');
  expect(read('validation-report.json')).toMatchObject({ pluginReports: [] });
}, 120_000);

/** A routes file with one route to the medium, which names no public host. */
function withoutPublicHosts(): string {
  const file = z
    .looseObject({ tenants: z.array(z.looseObject({ routes: z.array(z.looseObject({})) })) })
    .parse(JSON.parse(readFileSync(join(ROOT, 'routes.json'), 'utf8')));
  const path = join(newFolder(), 'routes.json');
  const route = { ...file.tenants[0]?.routes[0], name: 'posts', provider: 'medium', publicHosts: [] };
  writeFileSync(path, JSON.stringify({ tenants: [{ tenant: 'acme', routes: [route] }] }));
  return path;
}

test.each([
  [
    { ...settings, routesFile: withoutPublicHosts() },
    'Cannot load route posts: medium is verified on its public page, so publicHosts must name warehouse.example.com.',
  ],
  [{ ...settings, jwtIssuer: undefined }, 'context "jwtIssuer" is missing'],
  [{ ...settings, sendConcurrency: 0 }, 'Cannot limit sends to 0'],
])(
  'wrong settings are refused by name (%#)',
  async (context, message) => {
    await expect(describeCloud(context)).rejects.toThrow(message);
  },
  120_000,
);
