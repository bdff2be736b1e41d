import cliProgress from 'cli-progress';
import type { Progress } from '../run/progress.ts';

/** Without a terminal: a line at the start of each phase, and then no more often than this. */
const LINE_MS = 10_000;
/** While staging there may be no news for seconds, but the bar has to be there. */
const PHASES: Record<Progress['phase'], string> = {
  stage: 'reading',
  replay: 'replaying',
  report: 'reporting',
};

export interface Meter {
  show(progress: Progress): void;
  /** Leaves the line as it stands and gives the terminal back. */
  stop(): void;
}

/** Shows how far a run has come, on stderr: a bar where `draw`, else a line now and then. */
export function meter(draw: boolean, name = ''): Meter {
  const label = name === '' ? '' : `${name}  `;
  return draw ? bar(label) : lines(label);
}

function bar(label: string): Meter {
  const drawn = new cliProgress.SingleBar({
    stream: process.stderr,
    format: `${label}{phase} [{bar}] {text}`,
    barsize: 24,
    hideCursor: true,
    fps: 8,
  });
  let started = false;
  return {
    show(progress) {
      const payload = { phase: PHASES[progress.phase], text: textOf(progress) };
      if (!started) drawn.start(progress.total, progress.done, payload);
      started = true;
      drawn.setTotal(progress.total);
      drawn.update(progress.done, payload);
    },
    stop: () => drawn.stop(),
  };
}

function lines(label: string): Meter {
  let phase = '';
  let next = 0;
  return {
    show(progress) {
      const now = Date.now();
      if (progress.phase === phase && now < next) return;
      phase = progress.phase;
      next = now + LINE_MS;
      process.stderr.write(`${label}${PHASES[progress.phase]} ${textOf(progress)}\n`);
    },
    stop() {},
  };
}

/** `4/9 market-days, 12,000 ticks/s, 41 s left`. */
export function textOf({ done, total, ticks_per_s, eta_ms }: Progress): string {
  const parts = [`${Math.floor(done)}/${total} market-days`];
  if (ticks_per_s > 0) parts.push(`${Math.round(ticks_per_s).toLocaleString('en-US')} ticks/s`);
  if (eta_ms !== null) parts.push(`${duration(eta_ms)} left`);
  return parts.join(', ');
}

/** `41 s`, `3 min 20 s`, `2 h 5 min`. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}
