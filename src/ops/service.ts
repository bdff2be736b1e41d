import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { availableParallelism, hostname } from 'node:os';
import type { Logger } from 'pino';
import { LIMITS } from '../../contract/index.ts';
import type { Config } from '../config.ts';
import { Slot } from '../fleet/slot.ts';
import { endLeases } from '../fleet/sweeper.ts';
import { startWorker } from '../fleet/worker.ts';
import { checksFor } from './checks.ts';
import { logEvent } from './log.ts';
import { type Metrics, makeMetrics } from './metrics.ts';
import { openParts, type Parts } from './parts.ts';
import { type Readiness, watch } from './preflight.ts';
import { serveOps } from './server.ts';

/** What a process does: replay runs, answer HTTP, or both. */
export const roles = ['worker', 'api', 'all'] as const;
export type Role = (typeof roles)[number];

export interface Service extends Readiness {
  /** Resolves once it works and listens; rejects where it never will, as with a port that is taken. */
  readonly started: Promise<void>;
  /** Where /live, /ready and /metrics are. */
  readonly ops_port: number;
  /** Takes nothing new, finishes or after `grace_ms` hands back what it has, closes everything. */
  stop(): Promise<void>;
}

export type Running = Pick<Service, 'stop'>;

/**
 * Starts a process of the fleet. It waits for what it stands on as long as that takes; meanwhile /ready says what is
 * missing. Throws where /ready itself cannot be had.
 */
export async function startService(config: Config, role: Role, log: Logger): Promise<Service> {
  const does = { work: role !== 'api', api: role !== 'worker' };
  const slots = does.work ? (config.slots ?? availableParallelism()) : 0;
  const metrics = makeMetrics(slots);
  const opening = openParts(config);
  const checks = watch(checksFor(config, opening, does), log);
  let phase: 'waits' | 'begins' | 'works' | 'stops' = 'waits';
  const readiness: Readiness = {
    state() {
      const { ready, problems } = checks.state();
      return phase === 'works'
        ? { ready, problems }
        : { ready: false, problems: { service: `it ${phase}`, ...problems } };
    },
  };
  const ops = await serveOps({ host: config.host, port: config.ops_port }, readiness, metrics.registry);
  log.info({ event: 'started', ops_port: ops.port });
  const running: Running[] = [];
  const begin = async (): Promise<void> => {
    await checks.passed;
    if (phase === 'stops') return;
    phase = 'begins';
    const parts = await opening.all();
    metrics.watch(parts);
    if (does.work) running.push(await startFleetWorker(config, parts, slots, log, metrics));
    if (does.api) running.push(await startApi(config, parts, log));
    if (phase === 'begins') phase = 'works';
  };
  const started = begin();
  started.catch(() => {});
  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    checks.stop();
    const begun = phase !== 'waits';
    phase = 'stops';
    if (begun) await started.catch(() => {});
    log.info({ event: 'stopping', grace_ms: config.fleet.grace_ms });
    await Promise.all(running.map((one) => one.stop()));
    await opening.close();
    await ops.close();
    log.info({ event: 'stopped' });
  };
  return { started, state: readiness.state, ops_port: ops.port, stop: () => (stopped ??= stop()) };
}

/** Takes tasks as soon as it resolves. The parts stay open when it stops. */
export async function startFleetWorker(
  config: Config,
  { db, queue, store }: Parts,
  slots: number,
  log: Logger,
  metrics: Metrics,
): Promise<Running> {
  const { sandbox, fleet } = config;
  if (db.kind === 'pglite') await endLeases(db);
  const id = `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
  const worker = await startWorker({
    id,
    db,
    queue,
    store,
    slots: Array.from({ length: slots }, () => new Slot({ config, sandbox, limits: LIMITS })),
    limits: fleet,
    tell(event) {
      logEvent(log, event);
      metrics.hear(event);
    },
  });
  if (sandbox === 'process')
    log.warn({ event: 'unprotected', message: 'Strategies run without a sandbox: for your own code only.' });
  log.info({ event: 'working', worker: id, slots, sandbox });
  return worker;
}

/** Listens as soon as it resolves; rejects where the port is taken. The parts stay open when it stops. */
export async function startApi(config: Config, parts: Parts, log: Logger): Promise<Running> {
  const { host, port, public_url, fleet, proxies } = config;
  if (public_url === null && ['0.0.0.0', '::'].includes(host))
    log.warn({
      event: 'unreachable',
      message: `Links will begin with http://${host}:${port}. Set BACKTEST_PUBLIC_URL to where clients reach the api.`,
    });
  const [{ buildApi }, { RATE }] = await Promise.all([import('../api/server.ts'), import('../api/parts.ts')]);
  const app = buildApi({
    ...parts,
    limits: LIMITS,
    fleet,
    log,
    rate: { ...RATE, proxies },
    public_url: public_url ?? `http://${host}:${port}`,
  });
  await app.listen({ host, port });
  log.info({ event: 'listening', host, port: (app.server.address() as AddressInfo).port });
  return {
    async stop() {
      const late = setTimeout(() => app.server.closeAllConnections(), fleet.grace_ms);
      await app.close();
      clearTimeout(late);
    },
  };
}
