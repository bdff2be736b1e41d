import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE } from '../../src/compose.ts';

// The table of ARCHITECTURE.md: what a folder may import beside itself. Folders on top may import everything.
const allowed: Record<string, readonly string[]> = {
  contract: [],
  'src/exchange': ['contract'],
  'src/replay': ['contract', 'src/archive/staged.ts', 'src/exchange'],
  'src/check': ['contract'],
  'src/archive': ['contract'],
  'src/sandbox': ['contract'],
  'src/report': ['contract'],
  'src/run': [
    'contract',
    'src/exchange',
    'src/replay',
    'src/check',
    'src/archive',
    'src/sandbox',
    'src/report',
  ],
  'src/database': ['contract'],
  'src/ledger': ['contract', 'src/database'],
  'src/store': ['contract'],
  'src/queue': ['contract'],
  'src/fleet': [
    'contract',
    'src/archive',
    'src/report',
    'src/run',
    'src/sandbox',
    'src/database',
    'src/ledger',
    'src/store',
    'src/queue',
    'src/config.ts',
    'src/compose.ts',
  ],
  'src/api': [
    'contract',
    'src/archive',
    'src/check',
    'src/run',
    'src/database',
    'src/ledger',
    'src/store',
    'src/queue',
    'src/fleet',
  ],
  'src/ops': [
    'contract',
    'src/archive',
    'src/sandbox',
    'src/database',
    'src/store',
    'src/queue',
    'src/fleet',
    'src/api',
    'src/config.ts',
    'src/compose.ts',
  ],
  worker: ['src/ops', 'src/config.ts'],
};

/** What each package is imported by; everybody else keeps away from it. */
const owners: Record<string, string> = {
  'apache-arrow': 'src/archive',
  dockerode: 'src/sandbox',
  archiver: 'src/report',
  'parquetjs-lite': 'src/report',
  'oxc-parser': 'src/check',
  '@lezer/python': 'src/check',
  pg: 'src/database',
  '@electric-sql/pglite': 'src/database',
  '@aws-sdk/client-s3': 'src/store',
  '@aws-sdk/s3-request-presigner': 'src/store',
  bullmq: 'src/queue',
  ioredis: 'src/queue',
  fastify: 'src/api',
  'fastify-type-provider-zod': 'src/api',
  pino: 'src/ops',
  'prom-client': 'src/ops',
  commander: 'src/cli',
  'cli-progress': 'src/cli',
};

const folders = Object.keys(allowed);

function imports(folder: string): { file: string; from: string }[] {
  return readdirSync(join(PACKAGE, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('templates'))
    .flatMap((name) => {
      const file = join(folder, name);
      const text = readFileSync(join(PACKAGE, file), 'utf8');
      return [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, from]) => ({ file, from: from! }));
    });
}

const target = (file: string, from: string): string =>
  relative(PACKAGE, resolve(PACKAGE, dirname(file), from));

test.each(folders)('%s imports only what stands below it', (folder) => {
  const wrong = imports(folder)
    .filter(({ from }) => from.startsWith('.'))
    .map(({ file, from }) => ({ file, to: target(file, from) }))
    .filter(
      ({ to }) => ![folder, ...allowed[folder]!].some((below) => to === below || to.startsWith(`${below}/`)),
    );
  expect(wrong).toEqual([]);
});

test.each(['src/exchange', 'src/replay'])(
  '%s is pure: no module of Node.js, no clock, no randomness',
  (folder) => {
    expect(imports(folder).filter(({ from }) => !from.startsWith('.'))).toEqual([]);
    for (const { file } of imports(folder))
      expect(readFileSync(join(PACKAGE, file), 'utf8')).not.toMatch(
        /Date\.now|new Date|performance\.now|Math\.random/,
      );
  },
);

test('every package has one folder that imports it', () => {
  const wrong = [...folders, 'src/cli', 'src/compose.ts']
    .flatMap((folder) => (folder.endsWith('.ts') ? [] : imports(folder).map((one) => ({ folder, ...one }))))
    .filter(({ folder, from }) => owners[from] !== undefined && owners[from] !== folder)
    .map(({ file, from }) => `${file} imports ${from}`);
  expect(wrong).toEqual([]);
});
