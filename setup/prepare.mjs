// What every script here does first: from a bare clone to installed packages, a fresh dist/ and a Node.js
// that runs TypeScript. Uses nothing but Node.js itself. When all is in place it takes some milliseconds.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');
const stamp = join(root, 'dist/.built');

/** Installs what package-lock.json asks for and builds dist/, as far as that is not done yet. */
export async function bringUpToDate() {
  if (!isInstalled()) await install();
  if (changedAt(stamp) < newestSource()) await build();
}

/** Brings the clone up to date, then goes on under a Node.js of at least 22.18, which may be another process. */
export async function prepare() {
  await bringUpToDate();
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return;
  const newer = join(modules, '.bin/node');
  if (!existsSync(newer)) stop(`Node.js ${process.versions.node} is too old for this. Install Node.js 24.`);
  await handOver(newer, process.argv.slice(1));
}

/** Runs a program in this one's place: same terminal, same exit code. Does not return. */
export async function handOver(file, args) {
  process.exit(await run(file, args, 'inherit'));
}

/** Ends the script with a message for the user. */
export function stop(message) {
  console.error(message);
  process.exit(1);
}

/** By content: the times of both files change for many reasons. */
function isInstalled() {
  const packages = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {});
  const present = packages(join(modules, '.package-lock.json'));
  const wanted = Object.entries(packages(join(root, 'package-lock.json'))).filter(([path]) => path !== '');
  return wanted.every(([path, { version, optional, devOptional }]) =>
    present[path] ? present[path].version === version : optional || devOptional,
  );
}

async function install() {
  console.error('installing packages (npm ci)');
  const status = await run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], ['inherit', 2, 2]);
  if (status !== 0) stop('npm ci failed. Its message above says why.');
}

async function build() {
  const status = await run(
    process.execPath,
    [join(modules, 'typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
    ['inherit', 2, 2],
  );
  if (status !== 0) stop('The sources do not compile. The messages above say where.');
  writeFileSync(stamp, '');
}

/** Resolves to the exit code. A Ctrl-C is the program's to handle, and we end when it does. */
function run(file, args, stdio) {
  const child = spawn(file, args, { cwd: root, stdio });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve) => {
    child.on('error', (error) => stop(error.message));
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}

function newestSource() {
  const files = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].map((name) => join(root, name));
  for (const folder of ['contract', 'src', 'worker']) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      files.push(join(entry.parentPath, entry.name));
    }
  }
  return Math.max(...files.map(changedAt));
}

/** Milliseconds; 0 for what is not there. */
function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

// As npm's prepare script.
if (process.argv[1] === fileURLToPath(import.meta.url)) await bringUpToDate();
