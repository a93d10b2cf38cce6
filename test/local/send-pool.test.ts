import { afterEach, describe, expect, it } from 'vitest';
import { createSendPool, type SendPool } from '../../lib/local/send-pool.ts';

const module = new URL('../support/threads/sleeper.ts', import.meta.url);
let pool: SendPool;
const open = (timeoutMs: number, threads = 1): SendPool => {
  pool = createSendPool({ threads, timeoutMs, module });
  return pool;
};
afterEach(() => pool.close());

describe('the threads of the send function', () => {
  it('answer, and pass the name of an error on', async () => {
    open(30_000);
    expect(await pool.invoke('hello')).toBe('hello');
    await expect(pool.invoke('fail')).rejects.toMatchObject({ name: 'Away' });
  });

  it.each(['hang', 'block'])(
    'a call that would %s past its limit ends with its thread, and the next call has a new one',
    async (how) => {
      open(1500);
      await expect(pool.invoke(how)).rejects.toMatchObject({ name: 'Lambda.Unknown' });
      expect(await pool.invoke('again')).toBe('again');
    },
  );

  it('calls that share the thread end with it, as in a crash', async () => {
    open(1500);
    const both = await Promise.allSettled([pool.invoke('hang'), pool.invoke('block')]);
    expect(both.map((each) => each.status)).toEqual(['rejected', 'rejected']);
  });

  it('closing waits for what is under way', async () => {
    open(1500);
    const hanging = pool.invoke('hang').catch((error: Error) => error.name);
    await pool.close();
    expect(await hanging).toBe('Lambda.Unknown');
  });
});
