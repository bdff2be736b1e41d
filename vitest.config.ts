import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Property tests run thousands of cases, and containers start; nothing is asserted about time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
