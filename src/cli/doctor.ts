import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Language, languages } from '../../contract/manifest.ts';
import { connect, openSandbox } from '../compose.ts';
import { type Config, readConfig } from '../config.ts';
import { engineState } from '../sandbox/engine.ts';
import { resolveImage } from '../sandbox/images.ts';
import { messageOf } from './failure.ts';

/** One thing that a backtest needs, or could use. */
interface Finding {
  readonly name: string;
  readonly ok: boolean;
  /** Without it, `backtest run` with its default options does not work. */
  readonly needed: boolean;
  /** What is there, or what is wrong and how to mend it. */
  readonly detail: string;
}

/** A staged day takes about a third of this. */
const FREE_BYTES = 1e9;

/** `backtest doctor`: exit code 1 where something needed is missing. */
export async function doctor({ json }: { readonly json?: boolean }): Promise<void> {
  const config = readConfig();
  const findings = [
    node(),
    await engine(config),
    ...(await Promise.all(languages.map((language) => image(language, config)))),
    ...(await Promise.all(languages.map((language) => runtime(language, config)))),
    await cache(config),
  ];
  const ok = findings.every((finding) => finding.ok || !finding.needed);
  process.stdout.write(json ? `${JSON.stringify({ ok, findings })}\n` : tell(findings, ok));
  process.exitCode = ok ? 0 : 1;
}

function node(): Finding {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
  const ok = major > 20 || (major === 20 && minor >= 19);
  const detail = ok ? process.version : `${process.version} is too old. Install Node.js 24.`;
  return { name: 'Node.js', ok, needed: true, detail };
}

async function engine(config: Config): Promise<Finding> {
  const state = await engineState({ host: config.docker_host ?? undefined });
  const named = { name: 'Docker engine', needed: true };
  if (!state.reachable) return { ...named, ok: false, detail: state.problem };
  const { version, host, cgroupVersion, storageDriver, runtimes, warnings } = state;
  const facts = `${version} at ${host}, cgroup v${cgroupVersion}, ${storageDriver}, runtimes ${runtimes.join(' ')}`;
  return { ...named, ok: true, detail: [facts, ...warnings].join('; ') };
}

async function image(language: Language, config: Config): Promise<Finding> {
  const named = { name: `image of ${language}`, needed: true };
  try {
    const { id, tag } = await resolveImage(await connect(config), language);
    return { ...named, ok: true, detail: `${tag} ${id.slice(0, 19)}` };
  } catch (error) {
    return { ...named, ok: false, detail: messageOf(error) };
  }
}

/** What `--sandbox process` would run a strategy with. */
async function runtime(language: Language, config: Config): Promise<Finding> {
  const named = { name: `--sandbox process, ${language}`, needed: false };
  try {
    const found = await (await openSandbox('process', config)).describe(language);
    return { ...named, ok: true, detail: Object.values(found).join(' ') };
  } catch (error) {
    return { ...named, ok: false, detail: messageOf(error) };
  }
}

async function cache({ cache_folder, cache_bytes }: Config): Promise<Finding> {
  const named = { name: 'cache', needed: true };
  const other = 'Set BACKTEST_CACHE to a folder of your own with some space.';
  try {
    await mkdir(cache_folder, { recursive: true });
    const probe = join(cache_folder, `.probe-${process.pid}`);
    await writeFile(probe, 'probe');
    await rm(probe);
    const { bavail, bsize } = await statfs(cache_folder);
    const free = bavail * bsize;
    const facts = `${cache_folder}, ${gigabytes(free)} free, at most ${gigabytes(cache_bytes)} used`;
    return { ...named, ok: free >= FREE_BYTES, detail: free >= FREE_BYTES ? facts : `${facts}. ${other}` };
  } catch (error) {
    return { ...named, ok: false, detail: `${messageOf(error)}. ${other}` };
  }
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

function tell(findings: readonly Finding[], ok: boolean): string {
  const width = Math.max(...findings.map((finding) => finding.name.length));
  const mark = (finding: Finding) => (finding.ok ? 'ok' : finding.needed ? 'MISSING' : '-');
  const lines = findings.map(
    (finding) => `${mark(finding).padEnd(8)} ${finding.name.padEnd(width)}  ${finding.detail}`,
  );
  const verdict = ok ? 'Ready to run backtests.' : 'Mend what is MISSING, then run this again.';
  return [...lines, '', verdict, ''].join('\n');
}
