import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // A package of its own, with a configuration of its own: `npm run test:bluesky`.
    exclude: ['**/node_modules/**', 'test/real/**'],
    // Real child processes on two cores: a slow machine is no failure.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // One more than cores: some tests wait for a lease or a time limit most of the time.
    maxWorkers: 3,
  },
});
