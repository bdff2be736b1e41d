import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Most of the time is spent waiting for servers, boxes and leases.
    maxWorkers: 3,
    // Cases that kill real processes race them, and on a busy machine such a race may be lost once.
    retry: process.env.CI ? 1 : 0,
    // Property tests run thousands of cases, and containers start; nothing is asserted about time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
