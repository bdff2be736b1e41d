import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Bench } from './runs.ts';

const bench = new Bench();
afterAll(() => bench.close());

test.each(['docker', 'process'] as const)(
  'a TypeScript strategy of two files runs in the %s sandbox',
  async (sandbox) => {
    const folder = join(bench.folder, sandbox);
    mkdirSync(folder);
    const manifest = {
      contract: 1,
      name: 'typed',
      language: 'nodejs@24',
      entry: 'main.ts',
      datasets: ['prices'],
    };
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'greeting.ts'), "export const greeting: string = 'typed and well';\n");
    writeFileSync(
      join(folder, 'main.ts'),
      `import { greeting } from './greeting.ts';
export class Strategy {
  onMarketOpen(ctx: { log(text: string): void }): void {
    ctx.log(greeting satisfies string);
  }
}
`,
    );
    const { result, out } = await bench.run(folder, { sandbox, scope: { assets: ['BTC'], days: 1 } });
    expect(result.rejection).toBeNull();
    expect(await readFile(join(out, 'logs.txt'), 'utf8')).toContain('typed and well');
  },
);
