import type { Limits, LogLine } from '../../contract/index.ts';
import { type LimitHit, ProtocolViolation } from '../sandbox/sandbox.ts';

/** What a unit says beside its orders: logs and forecasts, held to their limits. */
export class Output {
  readonly logs: LogLine[] = [];
  readonly forecasts: { ts_ms: number; market: string; p_up: number }[] = [];
  private readonly limits: Limits;
  private logBytes = 0;

  constructor(limits: Limits) {
    this.limits = limits;
  }

  /** Takes a LOG payload; answers the limit that it breaks. */
  log(payload: Buffer, market: string): LimitHit | null {
    const { log_line_bytes, log_bytes } = this.limits;
    if (payload.length < 8) throw new ProtocolViolation('a log frame too short');
    if (payload.length - 8 > log_line_bytes) throw new ProtocolViolation('a log line beyond its bound');
    this.logBytes += payload.length - 8;
    if (this.logBytes > log_bytes) return { limit: 'logs', value: log_bytes };
    const ts_ms = payload.readDoubleLE(0);
    const text = payload.toString('utf8', 8).replace(/[\r\n]+/g, ' ');
    this.logs.push({ ts_ms: Number.isFinite(ts_ms) ? ts_ms : 0, market, text });
    return null;
  }

  /** Takes a FORECAST payload whose time is lawful; one that is no probability, or of no market, is dropped. */
  forecast(payload: Buffer, idOf: (market: number) => string | undefined): LimitHit | null {
    const { forecasts } = this.limits;
    if (this.forecasts.length >= forecasts) return { limit: 'forecasts', value: forecasts };
    const ts_ms = payload.readDoubleLE(0);
    const p_up = payload.readDoubleLE(8);
    const market = idOf(payload.readUInt16LE(16));
    if (market !== undefined && p_up >= 0 && p_up <= 1) this.forecasts.push({ ts_ms, market, p_up });
    return null;
  }
}
