/** A dry run in lines for people. Every text of the provider is quoted; words of ours stand as they are. */
import { quoted } from './command.ts';
import type { DryRunAnswer, Look, Search } from './dry-run-answer.ts';

export function linesOf(answer: DryRunAnswer): readonly string[] {
  const { id, state, version, verdict, search, readback } = answer;
  return [
    `intent ${word(id)} is ${word(state)}, version ${version}`,
    `verdict: ${verdict === null ? 'none, nobody looked: its route is not configured any more' : word(verdict)}`,
    ...(search === null ? [] : searchLines(search)),
    ...(readback === null ? [] : [lookedAt('readback', readback), ...recordLines(readback)]),
    ...(answer.contradicting.length === 0
      ? []
      : [`against what is settled: ${answer.contradicting.map(quoted).join(', ')}`]),
    `against a send: ${refusals(answer.sendRefusals)}`,
    ...(answer.waitsFor === null ? [] : [`waits for: ${waitsFor(answer.waitsFor)}`]),
    `next: ${word(answer.next.do)}${answer.next.reason === null ? '' : `, ${word(answer.next.reason)}`}`,
    'Nothing was written: not at the provider, not in the ledger. This look counts for nothing.',
  ];
}

function searchLines(search: Search): string[] {
  const { account, environment, reference, seen, candidates } = search;
  const asked = reference === null ? 'which shows no reference' : `for reference ${quoted(reference)}`;
  const matching = candidates.map((each) => each.externalId);
  const others = seen.filter((each) => !matching.includes(each.externalId));
  return [
    lookedAt('search', search),
    `  at account ${quoted(account)}, environment ${word(environment)}, ${asked}`,
    ...recordLines(search, seen),
    ...others.flatMap(({ externalId, url, createdAt, near, reasons }) => [
      `  ${near ? 'near miss' : 'seen, not counted'} ${quoted(externalId)}${at(url)}${made(createdAt)}`,
      `    reasons: ${told(reasons)}`,
    ]),
  ];
}

function lookedAt(what: string, look: Look): string {
  return `${what}: ${wholeness(look)}, from ${word(look.startedAt)} to ${word(look.endedAt)}`;
}

function recordLines({ candidates, refused }: Look, seen: Search['seen'] = []): string[] {
  return [
    ...(candidates.length === 0 ? ['  no record matches'] : []),
    ...candidates.flatMap(({ externalId, url, checks }) => [
      `  matches ${quoted(externalId)}${at(url)}${made(madeAt(externalId, seen))}`,
      `    checks: ${told(checks)}`,
      ...seen
        .filter((each) => each.externalId === externalId)
        .map(({ reasons }) => `    reasons: ${told(reasons)}`),
    ]),
    ...refused.map((externalId) => `  without effect there ${quoted(externalId)}`),
  ];
}

function wholeness({ error, complete, authorised }: Look): string {
  if (error !== null) return `FAILED (${word(error)})`;
  return `${complete ? 'complete' : 'not complete'}, ${authorised ? 'authorised' : 'NOT AUTHORISED'}`;
}

function refusals(words: readonly string[] | null): string {
  if (words === null) return 'none is to come';
  return words.length === 0 ? 'nothing' : words.map(word).join(', ');
}

function waitsFor(id: string): string {
  return id === 'elsewhere' ? "another unit's intent" : `intent ${word(id)}`;
}

function at(url: string | null): string {
  return url === null ? '' : ` at ${quoted(url)}`;
}

function made(createdAt: string | null): string {
  return createdAt === null ? '' : `, made ${word(createdAt)}`;
}

function madeAt(id: string, seen: Search['seen']): string | null {
  return seen.find(({ externalId }) => externalId === id)?.createdAt ?? null;
}

const NOT_COMPARABLE = /^not_comparable:(\w{1,40})$/;

function told(reasons: Readonly<Record<string, boolean | string>>): string {
  const parts = Object.entries(reasons).map(([name, value]) => {
    const lost = typeof value === 'string' ? NOT_COMPARABLE.exec(value)?.[1] : undefined;
    if (lost !== undefined) return `${word(name)} cannot be compared (${lost})`;
    if (typeof value === 'string') return `${word(name)} ${word(value)}`;
    return `${word(name)} ${value ? 'yes' : 'NO'}`;
  });
  return parts.length === 0 ? 'none' : parts.join(', ');
}

/** As it is where it can be a word, an id or a time of ours, else quoted. */
function word(text: string): string {
  return /^[A-Za-z0-9][\w.:-]{0,99}$/.test(text) ? text : quoted(text);
}
