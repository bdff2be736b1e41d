import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hookNames } from './codes.mjs';
import { StrategyError } from './errors.mjs';

/** Writes the files of START into `folder`, as ES modules unless a package.json of their own says otherwise. */
export function writeSource(files, folder) {
  mkdirSync(folder, { recursive: true });
  for (const { name, content } of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  const own = join(folder, 'package.json');
  if (!existsSync(own)) writeFileSync(own, '{"type":"module"}');
}

/** Imports the strategy: its class, and the set of its hooks' names. */
export async function load(entry, folder) {
  const module = await import(pathToFileURL(join(folder, entry)).href);
  const fallback = typeof module.default === 'function' ? module.default : module.default?.Strategy;
  const Strategy = module.Strategy ?? fallback;
  if (typeof Strategy !== 'function') throw new StrategyError(`${entry} exports no class Strategy`);
  const methods = new Set(hookNames.filter((name) => typeof Strategy.prototype?.[name] === 'function'));
  if (methods.size === 0) throw new StrategyError('class Strategy implements no hook');
  return { Strategy, methods };
}
