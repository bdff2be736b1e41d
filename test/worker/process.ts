import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { until } from '../chaos/until.ts';

const MAIN = fileURLToPath(new URL('../../worker/main.ts', import.meta.url));

type Line = { readonly event: string; readonly [field: string]: unknown };

/** A process of the fleet as an operator meets it: environment, signals, log lines, three addresses. */
export interface FleetProcess {
  readonly lines: readonly Line[];
  /** All that it wrote. */
  text(): string;
  /** Resolves to the first line of that event, written or yet to be. */
  line(event: string, fields?: Readonly<Record<string, unknown>>): Promise<Line>;
  ops(path: string): Promise<{ status: number; text: string }>;
  /** Resolves to what /ready says once it has that status. */
  ready(status: number): Promise<{ ready: boolean; problems: Record<string, string> }>;
  /** The value of a metric, by its name and labels as they are shown. */
  metric(name: string): Promise<number>;
  signal(name: NodeJS.Signals): void;
  readonly exited: Promise<number | null>;
}

const running = new Set<FleetProcess>();

export function startProcess(args: readonly string[], env: Readonly<Record<string, string>>): FleetProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, BACKTEST_OPS_PORT: '0', BACKTEST_SANDBOX: 'process', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: Line[] = [];
  let text = '';
  createInterface(child.stdout).on('line', (line) => {
    text += `${line}\n`;
    lines.push(JSON.parse(line));
  });
  child.stderr.setEncoding('utf8').on('data', (more) => {
    text += more;
  });
  const matches = (line: Line, fields: Readonly<Record<string, unknown>>) =>
    Object.entries(fields).every(([name, value]) => line[name] === value);
  const started: FleetProcess = {
    lines,
    text: () => text,
    line: (event, fields = {}) =>
      until(`${event} is logged: ${text}`, () => {
        const found = lines.find((line) => matches(line, { event, ...fields }));
        if (!found && child.exitCode !== null) throw new Error(`ended before ${event}: ${text}`);
        return found;
      }),
    async ops(path) {
      const { ops_port } = await started.line('started');
      const response = await fetch(`http://127.0.0.1:${ops_port}${path}`);
      return { status: response.status, text: await response.text() };
    },
    ready: (status) =>
      until(`/ready says ${status}: ${text}`, async () => {
        const answer = await started.ops('/ready');
        return answer.status === status ? JSON.parse(answer.text) : null;
      }),
    async metric(name) {
      const { text: metrics } = await started.ops('/metrics');
      const line = metrics.split('\n').find((one) => one.startsWith(`${name} `));
      return line === undefined ? Number.NaN : Number(line.slice(name.length + 1));
    },
    signal: (name) => void child.kill(name),
    exited: new Promise((resolve) => {
      child.on('close', (code) => {
        running.delete(started);
        resolve(code);
      });
    }),
  };
  running.add(started);
  return started;
}

/** Ends what a failed test has left. */
export async function endAll(): Promise<void> {
  for (const one of running) one.signal('SIGKILL');
  await Promise.all([...running].map(({ exited }) => exited));
}
