import { syncBuiltinESMExports } from 'node:module';

/**
 * Makes the replay's clock the process's clock. Timers such as setTimeout keep the real one.
 * @param {() => number} now ms
 */
export function install(now) {
  process.env.TZ = 'UTC';
  const RealDate = Date;
  const ReplayDate = function (...parts) {
    if (!new.target) return new RealDate(now()).toString();
    return Reflect.construct(RealDate, parts.length > 0 ? parts : [now()], new.target);
  };
  ReplayDate.prototype = RealDate.prototype;
  Object.defineProperty(ReplayDate, 'name', { value: 'Date' });
  Object.defineProperty(ReplayDate, 'length', { value: 7 });
  Object.defineProperty(RealDate.prototype, 'constructor', {
    value: ReplayDate,
    writable: true,
    configurable: true,
  });
  for (const [name, value] of Object.entries({ now, parse: RealDate.parse, UTC: RealDate.UTC })) {
    Object.defineProperty(ReplayDate, name, { value, writable: true, configurable: true });
  }
  globalThis.Date = ReplayDate;

  Object.defineProperty(performance, 'now', { value: now, writable: true, configurable: true });
  Object.defineProperty(performance, 'timeOrigin', { value: 0, configurable: true });
  const hrtime = (previous) => {
    const ms = now();
    const time = [Math.floor(ms / 1000), (ms % 1000) * 1e6];
    if (!previous) return time;
    const [seconds, nanoseconds] = [time[0] - previous[0], time[1] - previous[1]];
    return nanoseconds < 0 ? [seconds - 1, nanoseconds + 1e9] : [seconds, nanoseconds];
  };
  hrtime.bigint = () => BigInt(now()) * 1000000n;
  process.hrtime = hrtime;
  syncBuiltinESMExports();
}
