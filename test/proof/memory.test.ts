/** The local stack stays small; the bench measures it after ten times as many orders. */
import { expect, test } from 'vitest';
import { MOST_RESIDENT_BYTES } from '../bench/floors.ts';
import { measureMemory } from '../bench/memory.ts';

const INTENTS = 100;

test.skipIf(process.platform !== 'linux')(
  'stack and warehouse together hold at most 300 MB after 100 orders, all confirmed once',
  { timeout: 120_000 },
  async () => {
    const { resident, confirmed, effects } = await measureMemory(INTENTS);
    expect({ confirmed, effects }).toEqual({ confirmed: INTENTS, effects: INTENTS });
    expect(resident?.processes.map((each) => each.name)).toEqual(['stack', 'warehouse']);
    expect(resident?.total, JSON.stringify(resident)).toBeLessThanOrEqual(MOST_RESIDENT_BYTES);
  },
);
