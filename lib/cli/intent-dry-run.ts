/** `kakutei intent dry-run`: asks the service what a look would find and lead to. Nothing is written anywhere. */
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { CALLER_ENV } from '../platform/names.ts';
import { askService } from './ask-service.ts';
import { asciiJson, BadUsage, type Command, EXIT, quoted, type Terminal } from './command.ts';
import { dryRunAnswer, wholeLook } from './dry-run-answer.ts';
import { linesOf } from './dry-run-lines.ts';
import { accessFor } from './service-access.ts';

export const DRY_RUN_USAGE = `Usage: kakutei intent dry-run <id> [--url <base>] [--token-file <file>] [--json]
  <id>          of the intent
  --url         where the service is; ${CALLER_ENV.url} when left out
  --token-file  a file that holds a token with scope operate, - for standard input; ${CALLER_ENV.token} when left out.
                Never an argument: those are seen by everybody on the machine and kept in the history of the shell
  --json        the answer of the service as one JSON object instead of lines
Exit codes: 0 looked and shown, 1 the look failed or did not see everything, 2 nothing was shown.`;

interface Wish {
  readonly id: string;
  readonly json: boolean;
  readonly url: string | undefined;
  readonly tokenFile: string | undefined;
}

/** Throws `BadUsage`, or what `parseArgs` throws. */
export const dryRunIntent: Command = async (args, terminal) => {
  const wish = wishIn(args);
  if (wish === 'help') {
    terminal.out(DRY_RUN_USAGE);
    return EXIT.ok;
  }
  const { base, token } = await accessFor(wish, terminal);
  const url = new URL(`intents/${wish.id}/reconciliation`, base);
  const reply = await askService({ url, token, body: { dryRun: true } });
  const place = quoted(base.href);
  if (reply.kind === 'failed') return refused(terminal, `Cannot ask ${place}: ${reply.why}.`);
  if (reply.status !== 200) return refused(terminal, `Cannot look: ${reply.status} ${said(reply.body)}.`);
  const answer = dryRunAnswer.safeParse(reply.body);
  if (!answer.success || answer.data.id !== wish.id) {
    return refused(terminal, `Cannot show what ${place} answered: it is no dry run of this intent.`);
  }
  if (wish.json) terminal.out(asciiJson(reply.body));
  else for (const line of linesOf(answer.data)) terminal.out(line);
  return wholeLook(answer.data) ? EXIT.ok : EXIT.broken;
};

function wishIn(args: readonly string[]): Wish | 'help' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      'token-file': { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  const [id, ...more] = positionals;
  if (id === undefined || more.length > 0) throw new BadUsage('Name one intent.');
  if (!/^int_[0-9a-f]{40}$/.test(id)) throw new BadUsage(`${quoted(id)} is not the id of an intent.`);
  return { id, json: values.json, url: values.url, tokenFile: values['token-file'] };
}

const told = z.object({
  title: z.string().optional(),
  detail: z.string().optional(),
  message: z.string().optional(),
});

/** What a problem, or the gateway before it, says of itself. */
function said(body: unknown): string {
  const { title, detail, message } = told.safeParse(body).data ?? {};
  const texts = [title ?? message, detail].filter((each) => each !== undefined);
  return texts.length === 0 ? 'without a word' : texts.map(quoted).join(': ');
}

function refused(terminal: Terminal, line: string): number {
  terminal.err(line);
  return EXIT.usage;
}
