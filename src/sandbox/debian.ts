import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from './command.ts';

type Log = (line: string) => void;

/** One entry of apt's configuration of where packages come from. */
export interface AptSource {
  uris: string[];
  suites: string[];
  components: string[];
}

/** Debian's release name of this machine ("bookworm"), or null where it is not Debian. */
export async function debianRelease(): Promise<string | null> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const field = (name: string) => text.match(new RegExp(`^${name}="?([^"\n]*)"?$`, 'm'))?.[1];
  return field('ID') === 'debian' ? (field('VERSION_CODENAME') ?? null) : null;
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * Installs Debian packages, refreshing the package lists if the first try fails.
 * Throws with the command to run by hand when this machine is not Debian or this user is not root.
 */
export async function installPackages(names: string[], log: Log): Promise<void> {
  const byHand = `sudo apt-get install --no-install-recommends ${names.join(' ')}`;
  if (!(await debianRelease()))
    throw new Error(`${names.join(' and ')} must be installed by hand: not a Debian machine.`);
  if (!isRoot()) throw new Error(`Installing ${names.join(' and ')} takes root. Run: ${byHand}`);
  const apt = (...args: string[]) =>
    command('env', [
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      '-qq',
      '-oDPkg::Lock::Timeout=120',
      ...args,
    ]);
  log(`installing ${names.join(', ')}`);
  const install = ['install', '--yes', '--no-install-recommends', ...names];
  try {
    await apt(...install);
  } catch {
    await apt('update');
    await apt(...install);
  }
}

/** Reads one-line (`deb URI SUITE COMPONENT...`) sources; disabled lines and source packages are left out. */
export function parseListSources(text: string): AptSource[] {
  const sources: AptSource[] = [];
  for (const line of text.split('\n')) {
    const match = line.match(/^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s*([^#]*)/);
    if (match) sources.push({ uris: [match[1]!], suites: [match[2]!], components: words(match[3]!) });
  }
  return sources;
}

/** Reads deb822 sources (`URIs:` in stanzas); disabled stanzas and source packages are left out. */
export function parseStanzaSources(text: string): AptSource[] {
  const sources: AptSource[] = [];
  const stanzas = text.replace(/^#.*\n?/gm, '').split(/\n\s*\n/);
  for (const stanza of stanzas) {
    const fields = new Map<string, string>();
    for (const [, name, value] of stanza.matchAll(/^([\w-]+):((?:.*)(?:\n[ \t].*)*)/gm)) {
      fields.set(name!.toLowerCase(), value!);
    }
    const list = (name: string) => words(fields.get(name) ?? '');
    if (!list('types').includes('deb') || /^\s*(no|false|0)\s*$/i.test(fields.get('enabled') ?? '')) continue;
    sources.push({ uris: list('uris'), suites: list('suites'), components: list('components') });
  }
  return sources;
}

/** The Debian mirror among a machine's sources: where its own release's main packages come from. */
export function debianMirror(sources: AptSource[], release: string): string | null {
  const found = sources.find(
    (source) => source.suites.includes(release) && source.components.includes('main'),
  );
  return found?.uris[0] ?? null;
}

/** The Debian mirror this machine uses. Throws when apt is set up without one. */
export async function machineMirror(release: string): Promise<string> {
  const folder = '/etc/apt/sources.list.d';
  const names = (await readdir(folder).catch(() => [])).sort().map((name) => join(folder, name));
  const sources: AptSource[] = [];
  for (const path of ['/etc/apt/sources.list', ...names]) {
    const parse = path.endsWith('.sources') ? parseStanzaSources : path.endsWith('.list') && parseListSources;
    if (parse) sources.push(...parse(await readFile(path, 'utf8').catch(() => '')));
  }
  const mirror = debianMirror(sources, release);
  if (!mirror) throw new Error(`apt has no source for ${release} main. Look into /etc/apt/sources.list.d.`);
  // Cloud images keep the address one file further on.
  const list = mirror.match(/^mirror\+file:(?:\/\/)?(\/.*)/)?.[1];
  return list ? words(await readFile(list, 'utf8'))[0]! : mirror;
}

/** How this machine's apt fetches (proxy, retries, certificates), as options for another apt. */
export async function fetchOptions(): Promise<string[]> {
  const dump = await command('apt-config', ['dump', '--no-empty', 'Acquire']);
  return dump
    .split('\n')
    .filter((line) => /^Acquire::(https?|Retries|ForceIPv[46]|Check-Date|Proxy)\b/i.test(line));
}

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}
