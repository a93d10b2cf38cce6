/** Hand over: the step that decided named the reason; this one says so in the state and tells people. */
import { REMINDER_MS } from '../domain/plan.ts';
import { apply, type Deps, type Step } from './deps.ts';

export function handOver(deps: Deps): Step {
  return async (input) => {
    const intent = await deps.ledger.read(input);
    if (intent === undefined || intent.handover === null || intent.state === 'handover')
      return { next: 'end' };
    const handed = await apply(deps, intent, { kind: 'handed_over', dueAt: deps.clock.now() + REMINDER_MS });
    if (handed !== undefined) {
      const { reason } = intent.handover;
      deps.log('warn', 'handed_over', {
        tenant: intent.tenant,
        intentId: intent.id,
        route: intent.route,
        reason,
      });
    }
    return { next: 'end' };
  };
}
