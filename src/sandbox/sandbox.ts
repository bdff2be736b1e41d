import type { Language, Limits, Place } from '../../contract/index.ts';

/** What a run asks of a box. `name` is unique among live boxes and deterministic: a repeat finds and removes its forerunner. */
export interface BoxRequest {
  readonly name: string;
  readonly language: Language;
  readonly limits: Limits;
  /** Wall-clock time, ms, after which any reaper may remove the box. */
  readonly deadline_ms: number;
}

/** Which limit ended a box, with the value that it was held to. */
export interface LimitHit {
  readonly limit:
    | 'start'
    | 'hook_wall'
    | 'hook_cpu'
    | 'market_day_cpu'
    | 'logs'
    | 'orders'
    | 'forecasts'
    | 'stalled';
  readonly value: number;
}

/** What the harness said of an exception in the strategy. Untrusted text, already bounded. */
export interface Raised {
  readonly place: Place;
  readonly traceback: string;
}

/** Everything that was seen of a box's end; the verdict is a pure function of it. */
export interface Evidence {
  readonly exit_code: number | null;
  readonly signal: string | null;
  /** The kernel killed it for memory, by the engine's event, its inspection or the cgroup's counter. */
  readonly oom: boolean;
  /** Its END frame came, after FINISH was sent. */
  readonly ended: boolean;
  readonly raised: Raised | null;
  readonly limit: LimitHit | null;
  /** What was wrong with a frame, if one was. */
  readonly violation: string | null;
  /** The last place that is known. */
  readonly place: Place;
  /** The tail of raw stdout and stderr, bounded; never part of a report. */
  readonly diagnostics: string;
}

/** How a box ended as an operating system tells it. */
export interface Exit {
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly oom: boolean;
  readonly diagnostics: string;
}

/** A malformed or unlawful frame. Thrown by whoever parses one; ends the box. */
export class ProtocolViolation extends Error {}

/**
 * A started harness with both sockets connected. One box serves one unit of work and is then closed. Frames arrive in
 * order; a handler that throws ProtocolViolation ends the box, and `violation` tells why.
 */
export interface Box {
  /** Sets the one handler of control frames; call it before the first `control`. The payload is only valid during the call. */
  receive(handler: (type: number, payload: Buffer) => void): void;
  control(type: number, payload: Uint8Array): void;
  /** The payload belongs to the box from now on. Resolves when the socket wants more. */
  bulk(type: number, payload: Uint8Array): Promise<void> | undefined;
  /** Resolves when the harness closed its sockets or died, whichever is first; never rejects. */
  readonly hangup: Promise<void>;
  readonly violation: string | null;
  /** CPU time that the box has used, ms; null where it cannot be known. */
  cpuMs(): Promise<number | null>;
  /** Waits up to `grace_ms` for the box to exit by itself, then kills it; removes every trace. Idempotent; never leaves a container. */
  close(grace_ms: number): Promise<Exit>;
}

/** Runs harnesses. Two kinds: `docker`, and `process` for one's own code. */
export interface Sandbox {
  readonly kind: 'docker' | 'process';
  /** Short description for provenance: image id, runtime versions. */
  describe(language: Language): Promise<Record<string, string>>;
  /** Fails with a plain Error (a fault of ours, with what to do next) when no box can be had. */
  open(request: BoxRequest): Promise<Box>;
  /** Closes whatever is still open. */
  close(): Promise<void>;
}
