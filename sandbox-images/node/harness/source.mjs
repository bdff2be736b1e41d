import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
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

/** The worker has taken the types out of TypeScript files; this Node may not know their names. */
function loadTypeScript() {
  registerHooks({
    load(url, context, next) {
      if (!/^file:.*\.m?ts$/.test(url)) return next(url, context);
      return { format: 'module', shortCircuit: true, source: readFileSync(fileURLToPath(url)) };
    },
  });
}

/** Imports the strategy: its class, and the set of its hooks' names. */
export async function load(entry, folder) {
  loadTypeScript();
  const module = await import(pathToFileURL(join(folder, entry)).href);
  const fallback = typeof module.default === 'function' ? module.default : module.default?.Strategy;
  const Strategy = module.Strategy ?? fallback;
  if (typeof Strategy !== 'function') throw new StrategyError(`${entry} exports no class Strategy`);
  const methods = new Set(hookNames.filter((name) => typeof Strategy.prototype?.[name] === 'function'));
  if (methods.size === 0) throw new StrategyError('class Strategy implements no hook');
  return { Strategy, methods };
}
