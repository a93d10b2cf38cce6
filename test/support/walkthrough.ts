/** A page whose blocks are typed one after the other, each with the answer that it shows. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { Service } from '../../lib/local/service.ts';
import { fencesOf, matches, textMatches } from './documents.ts';

const MARK = '@@ next block @@';

export interface Step {
  readonly commands: string;
  /** What the block prints as its last line with a status, or as a text; null for one that prints nothing. */
  readonly answer: { readonly status: number; readonly body: unknown } | string | null;
}

export function stepsOf(text: string): Step[] {
  const fences = fencesOf(text);
  return fences.flatMap(({ info, text: commands }, index): Step[] => {
    if (info !== 'sh walkthrough') return [];
    const next = fences[index + 1];
    if (next?.info === 'text answer') return [{ commands, answer: next.text.trim() }];
    const [, status] = /^json answer (\d{3})$/.exec(next?.info ?? '') ?? [];
    if (next === undefined || status === undefined) return [{ commands, answer: null }];
    return [{ commands, answer: { status: Number(status), body: JSON.parse(next.text) } }];
  });
}

/**
 * Runs the blocks in one shell, as a reader would, at the address, with the tokens and with the data of `service`;
 * `vars` are what else a reader has there.
 */
export async function printedBy(
  steps: readonly Step[],
  service: Service,
  dataDir: string,
  vars: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const { submitter, approver, operator, otherTenant } = service.tokens;
  const tokens = {
    ...{ SUBMITTER: submitter, APPROVER: approver, OPERATOR: operator, OTHER_TENANT: otherTenant },
    ...vars,
  };
  const blocks = steps.map(({ commands }) =>
    commands.replace('http://127.0.0.1:8787', service.url).replaceAll('.kakutei/', `${dataDir}/`),
  );
  const script = `set -u\n${blocks.join(`\necho '${MARK}'\n`)}`;
  const { stdout } = await promisify(execFile)('sh', ['-c', script], {
    env: { ...process.env, ...tokens },
    timeout: 120_000,
  });
  return stdout.split(`${MARK}\n`);
}

/** Fails at the first block that printed something else than it shows. */
export function expectAsShown({ commands, answer }: Step, printed: string): void {
  const lines = printed.trim();
  if (answer === null) expect(lines, commands).toBe('');
  else if (typeof answer === 'string') expect(textMatches(answer, lines), `${commands}\n${lines}`).toBe(true);
  else {
    const [, body = '', status = ''] = /^(.*) (\d{3})$/s.exec(lines) ?? [];
    expect({ commands, status, lines }).toEqual({ commands, status: String(answer.status), lines });
    expect(matches(answer.body, JSON.parse(body)), `${commands}\n${body}`).toBe(true);
  }
}
