import { send } from '../lib/workflow/send.ts';
import { step } from './handler.ts';
import { log, sending } from './wiring.ts';

/** The only function that writes outside, and the only one that may read a write secret. */
export const handler = step('send', log, () => send(sending()));
