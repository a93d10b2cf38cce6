/** Renders one conditional update: what changed, under which guard. No `ADD`; our own retry must fail and be told. */
import type { Intent } from '../domain/intent.ts';
import { changesBetween, INTENT_SORT_KEY, partitionOf, SIGHTS, toItem } from './item.ts';
import type { Guard } from './ledger.ts';

export interface Update {
  readonly Key: { readonly pk: string; readonly sk: string };
  readonly UpdateExpression: string;
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames: Record<string, string>;
  readonly ExpressionAttributeValues: Record<string, unknown>;
}

export function updateOf(before: Intent, after: Intent, guard: Guard): Update {
  const names: Record<string, string> = { '#version': 'version' };
  const values: Record<string, unknown> = { ':one': 1 };
  const sets = ['#version = #version + :one'];
  const removes: string[] = [];
  changesBetween(toItem(before), toItem(after)).forEach(({ path, value }, index) => {
    const [name, at] = path as [string, number | undefined];
    names[`#n${index}`] = name;
    const target = at === undefined ? `#n${index}` : `#n${index}[${at}]`;
    if (value === undefined) removes.push(target);
    else {
      values[`:v${index}`] = value;
      sets.push(`${target} = :v${index}`);
    }
  });
  const condition = conditionOf(before, guard, names, values);
  return {
    Key: { pk: partitionOf({ tenant: before.tenant, intentId: before.id }), sk: INTENT_SORT_KEY },
    UpdateExpression: `SET ${sets.join(', ')}${removes.length > 0 ? ` REMOVE ${removes.join(', ')}` : ''}`,
    ConditionExpression: condition,
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}

function conditionOf(
  before: Intent,
  guard: Guard,
  names: Record<string, string>,
  values: Record<string, unknown>,
): string {
  if (guard.kind === 'unchanged') {
    values[':version'] = before.version;
    return '#version = :version';
  }
  const attempt = `#attempts[${guard.number - 1}]`;
  Object.assign(names, {
    '#attempts': 'attempts',
    '#token': 'token',
    '#result': 'result',
    '#state': 'state',
  });
  Object.assign(values, { ':token': guard.token, ':sending': 'sending', ':count': guard.number });
  const unseen = SIGHTS.map((name) => {
    names[`#${name}`] = name;
    if (before[name] === null) return `attribute_not_exists(#${name})`;
    values[`:${name}`] = before[name];
    return `#${name} = :${name}`;
  });
  return [
    `${attempt}.#token = :token`,
    `attribute_not_exists(${attempt}.#result)`,
    '#state = :sending',
    'size(#attempts) = :count',
    ...unseen,
  ].join(' AND ');
}
