/** What a caller's shell says of the service, for the command line: where it is, and the token to show there. */
import { CALLER_ENV } from './names.ts';

export interface CallerSettings {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
}

export function callerSettings(env: NodeJS.ProcessEnv = process.env): CallerSettings {
  return { url: env[CALLER_ENV.url], token: env[CALLER_ENV.token] };
}
