/** Carries out a plan that is not the step's own work: write the event, name the next step. */
import type { Intent } from '../domain/intent.ts';
import type { Plan } from '../domain/plan.ts';
import { apply, comeBack, type Deps, type StepAnswer } from './deps.ts';

/** `again`: the state moved (by us or by somebody else); load and plan once more. */
export async function follow(deps: Deps, intent: Intent, plan: Plan): Promise<StepAnswer | 'again'> {
  switch (plan.do) {
    case 'claim':
      return { next: 'send' };
    case 'look':
    case 'check':
    case 'audit':
      return { next: 'search' };
    case 'verify':
    case 'follow_up':
      return { next: 'verify' };
    case 'hand_over':
      return { next: 'hand_over' };
    case 'end':
      return { next: 'end' };
    case 'apply':
      await apply(deps, intent, plan.event);
      return 'again';
    case 'wait': {
      const { answer, dueAt } = comeBack(deps, plan.until);
      const waiting = plan.waitsFor === undefined ? {} : { waitsFor: plan.waitsFor };
      const deferred = await apply(deps, intent, { kind: 'deferred', dueAt, ...waiting });
      return deferred === undefined ? 'again' : answer;
    }
  }
}
