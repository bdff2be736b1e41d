// The servers that tests start for themselves: Redis, Postgres, an S3 server. Only their programs are needed.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';

const POSTGRES = '/usr/lib/postgresql';
const POLICY = '/usr/sbin/policy-rc.d';
const swift = ['proxy', 'account', 'container', 'object'].map((part) => `swift-${part}`);

const missing = () => [
  ...(existsSync('/usr/bin/ps') || existsSync('/bin/ps') ? [] : ['procps']),
  ...(existsSync('/usr/bin/redis-server') ? [] : ['redis-server']),
  ...(existsSync(POSTGRES) && readdirSync(POSTGRES).length > 0 ? [] : ['postgresql']),
  ...swift.filter((name) => !existsSync(`/usr/bin/${name}-server`)),
];

/** Installs what is missing where it may. Null when all is there, else what to do. Call after prepare(). */
export async function servicesProblem() {
  const names = missing();
  if (names.length === 0) return null;
  // Tests start servers of their own; those that the packages bring along stay off.
  const held = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get') && !existsSync(POLICY);
  if (held) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const { installPackages } = await import('../dist/src/sandbox/debian.js');
    await installPackages(names, (line) => console.error(line));
    if (existsSync('/run/systemd/system')) await disable(names);
    return null;
  } catch (error) {
    return error.message;
  } finally {
    if (held) rmSync(POLICY);
  }
}

async function disable(names) {
  const { command } = await import('../dist/src/sandbox/command.js');
  for (const name of names) await command('systemctl', ['disable', '--quiet', name]).catch(() => {});
}
