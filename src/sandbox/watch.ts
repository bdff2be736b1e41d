import type { Limits } from '../../contract/index.ts';
import type { LimitHit } from './sandbox.ts';

/** How often the limits are looked at. */
const LOOK_MS = 500;

/**
 * Holds a box to its limits of time. What the box says of itself (beats) gives the early and precise verdict; what it
 * cannot forge (its silence, the CPU time that the kernel counts) is the backstop. A box that lies in every beat uses
 * its market-days' CPU time, or is ended at its deadline.
 */
export class Watch {
  private readonly limits: Limits;
  private readonly cpu_limit_ms: number;
  private readonly onHit: (hit: LimitHit) => void;
  private readonly timer: NodeJS.Timeout;
  private ready = false;
  private over = false;
  private begunAt = performance.now();
  private lookedAt = performance.now();
  /** When the box last said something, and the CPU time that it had used by then. */
  private heardAt = performance.now();
  private heardCpu: number | null = null;
  /** CPU time as the kernel counts it, ms; null while that is not known. */
  private cpu: number | null = null;
  /** What beats tell: CPU time of the process; wall and CPU time of the hook that is running. */
  private beatCpu = 0;
  private hookWall = 0;
  private hookCpu = 0;

  /**
   * Begins with the start of the harness. `cpuMs` is asked twice a second; `onHit` is called once, with the first limit
   * that the box breaks.
   */
  constructor(
    limits: Limits,
    market_days: number,
    cpuMs: () => Promise<number | null>,
    onHit: (hit: LimitHit) => void,
  ) {
    this.limits = limits;
    this.cpu_limit_ms = limits.market_day_cpu_ms * Math.max(1, market_days);
    this.onHit = onHit;
    let reading = false;
    this.timer = setInterval(async () => {
      this.look();
      if (reading) return;
      reading = true;
      this.cpu = (await cpuMs().catch(() => null)) ?? this.cpu;
      this.heardCpu ??= this.cpu;
      reading = false;
    }, LOOK_MS);
    this.timer.unref();
  }

  /** READY came: the start is over. */
  started(): void {
    this.ready = true;
    this.heard();
  }

  /** The box gets new work; the time since it was last heard does not count. */
  expect(): void {
    this.heard();
  }

  /** A frame came, of whatever type. */
  heard(): void {
    this.heardAt = performance.now();
    this.heardCpu = this.cpu;
  }

  /** What a BEAT says: CPU ms of the process, wall ms inside of the present hook. Any number may come. */
  beat(cpu_ms: number, wall_ms: number): void {
    const cpu = Number.isFinite(cpu_ms) ? Math.max(this.beatCpu, cpu_ms) : this.beatCpu;
    const wall = Number.isFinite(wall_ms) ? Math.max(0, wall_ms) : 0;
    // A shorter time means another hook. Never more than the wall time, as what ran before it is not this hook's.
    const before = wall > this.hookWall ? this.hookCpu : 0;
    this.hookCpu = Math.min(wall, before + cpu - this.beatCpu);
    this.hookWall = wall;
    this.beatCpu = cpu;
    this.look();
  }

  close(): void {
    this.over = true;
    clearInterval(this.timer);
  }

  private look(): void {
    const now = performance.now();
    // Time in which this process itself did not get to run is not the box's.
    const late_ms = now - this.lookedAt - LOOK_MS;
    if (late_ms > LOOK_MS) {
      this.begunAt += late_ms;
      this.heardAt += late_ms;
    }
    this.lookedAt = now;
    const hit = this.over ? null : this.judge(now);
    if (!hit) return;
    this.close();
    this.onHit(hit);
  }

  private judge(now: number): LimitHit | null {
    const { start_ms, hook_wall_ms, hook_cpu_ms } = this.limits;
    if (!this.ready) return now - this.begunAt > start_ms ? { limit: 'start', value: start_ms } : null;
    const cpu = this.cpu ?? this.beatCpu;
    if (cpu > this.cpu_limit_ms) return { limit: 'market_day_cpu', value: this.cpu_limit_ms };
    // Code that does not let even the harness' watchdog run shows as CPU time without a word. Readings are up to two looks old.
    const unheard = this.cpu !== null && this.heardCpu !== null ? this.cpu - this.heardCpu - 2 * LOOK_MS : 0;
    if (Math.max(this.hookCpu, unheard) > hook_cpu_ms) return { limit: 'hook_cpu', value: hook_cpu_ms };
    if (this.hookWall > hook_wall_ms) return { limit: 'hook_wall', value: hook_wall_ms };
    const patience_ms = hook_wall_ms + Math.min(5_000, hook_wall_ms / 6);
    return now - this.heardAt > patience_ms ? { limit: 'stalled', value: patience_ms } : null;
  }
}
