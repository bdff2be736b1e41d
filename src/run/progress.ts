/** How far a run is. `done` and `total` are market-days times cells. */
export interface Progress {
  readonly phase: 'stage' | 'replay' | 'report';
  readonly done: number;
  readonly total: number;
  readonly ticks: number;
  readonly ticks_per_s: number;
  /** Null as long as it cannot be told. */
  readonly eta_ms: number | null;
}

/** Adds up what units say of themselves; tells at most ten times a second. */
export class ProgressMeter {
  private readonly done: number[];
  private readonly ticks: number[];
  private readonly total: number;
  private readonly tell: (progress: Progress) => void;
  private readonly began = performance.now();
  private toldAt = 0;
  private phase: Progress['phase'] = 'stage';

  /** @param marketDays of each unit. */
  constructor(marketDays: readonly number[], tell: (progress: Progress) => void) {
    this.done = marketDays.map(() => 0);
    this.ticks = marketDays.map(() => 0);
    this.total = marketDays.reduce((sum, days) => sum + days, 0);
    this.tell = tell;
  }

  /** A unit is at `share` (0 to 1) of its market-days and has shown `ticks` rows. */
  unit(at: number, share: number, marketDays: number, ticks: number): void {
    this.phase = 'replay';
    this.done[at] = share * marketDays;
    this.ticks[at] = ticks;
    const now = performance.now();
    if (share < 1 && now - this.toldAt < 100) return;
    this.toldAt = now;
    this.say(now);
  }

  /** The first thing said: the bar is there while the first days are staged. */
  begin(): void {
    this.say(performance.now());
  }

  report(): void {
    this.phase = 'report';
    this.say(performance.now());
  }

  private say(now: number): void {
    const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
    const done = sum(this.done);
    const ticks = sum(this.ticks);
    const elapsed = now - this.began;
    this.tell({
      phase: this.phase,
      done,
      total: this.total,
      ticks,
      ticks_per_s: elapsed > 0 ? (ticks * 1000) / elapsed : 0,
      eta_ms: done > 0 ? (elapsed * (this.total - done)) / done : null,
    });
  }
}
