import { init, type TemplateLanguage } from './init.ts';

/** `backtest init`. */
export async function start(
  dir: string,
  { language }: { readonly language: TemplateLanguage },
): Promise<void> {
  const written = await init(dir, language);
  process.stdout.write(`${written.map((path) => `wrote ${path}`).join('\n')}

It is a strategy that runs as it is. Look for mistakes, then run it:
  npx backtest check ${dir}
  npx backtest run ${dir} --archive fixtures/archive/synthetic
`);
}
