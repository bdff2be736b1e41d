import type { FillRow, MarkRow, OrderRow, Outcome, Reason } from '../../contract/index.ts';
import type { Market } from './market.ts';
import type { Order } from './order.ts';
import type { Portfolio } from './portfolio.ts';
import { DOLLAR, notional } from './units.ts';

export type EventKind =
  | 'accepted'
  | 'rejected'
  | 'cancelled'
  | 'expired'
  | 'cancel_rejected'
  | 'fill'
  | 'converted'
  | 'settle'
  | 'stop';

/** What the strategy is told, and when. Deltas are against what it was told before. */
export interface PrivateEvent {
  /** When it learns of it. */
  readonly ts: number;
  readonly event_ts: number;
  readonly kind: EventKind;
  readonly number: number;
  readonly market: number;
  readonly reason: Reason;
  readonly outcome: Outcome | 'split' | null;
  readonly side: 'buy' | 'sell' | null;
  readonly liquidity: 'maker' | 'taker' | null;
  /** Of a fill, in the terms of its outcome; of a settlement, the value that decided, or NaN. */
  readonly price: number;
  readonly size: number;
  readonly remaining: number;
  readonly fee: number;
  readonly cash: number;
  readonly available: number;
  readonly up: number;
  readonly up_locked: number;
  readonly down: number;
  readonly down_locked: number;
}

/** The part of an event that its cause knows; the journal adds the deltas. */
export type EventFacts = Partial<Omit<PrivateEvent, 'ts' | 'event_ts' | 'kind' | 'market'>>;

/** What has happened at the venue: the rows of the report, and the events on their way to the strategy. */
export class Journal {
  readonly orders: OrderRow[] = [];
  readonly fills: FillRow[] = [];
  readonly marks: MarkRow[] = [];
  readonly counts: Record<string, number> = {};
  /** In the order in which they happened. */
  readonly outbox: PrivateEvent[] = [];
  private readonly portfolio: Portfolio;
  private readonly markets: readonly Market[];
  private readonly portfolioNumber: number;
  private readonly told: {
    cash: number;
    available: number;
    up: number[];
    upL: number[];
    down: number[];
    downL: number[];
  };

  constructor(portfolio: Portfolio, markets: readonly Market[], portfolioNumber: number) {
    this.portfolio = portfolio;
    this.markets = markets;
    this.portfolioNumber = portfolioNumber;
    const zeros = (): number[] => markets.map(() => 0);
    this.told = {
      cash: portfolio.cash,
      available: portfolio.cash,
      up: zeros(),
      upL: zeros(),
      down: zeros(),
      downL: zeros(),
    };
  }

  count(name: string, by = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + by;
  }

  /** Puts an event on its way; it happened at `event_ts` and will be seen at `ts`. */
  tell(kind: EventKind, market: number, event_ts: number, ts: number, facts: EventFacts): void {
    this.outbox.push({
      ts,
      event_ts,
      kind,
      market,
      number: 0,
      reason: '',
      outcome: null,
      side: null,
      liquidity: null,
      price: 0,
      size: 0,
      remaining: 0,
      fee: 0,
      ...facts,
      ...this.deltas(market),
    });
  }

  /** An order's last state becomes a row. */
  order(order: Order): void {
    this.orders.push({
      order_id: order.id,
      submitted_ms: order.submitted_ms,
      arrived_ms: order.arrived_ms,
      done_ms: order.done_ms,
      market: this.markets[order.market]!.spec.id,
      outcome: order.outcome,
      side: order.side,
      limit: order.limit,
      size: order.size,
      filled: order.filled,
      tif: order.tif,
      status: statusOf(order),
      reason: order.reason,
      tag: order.tag,
    });
  }

  /** The portfolio as it stands. At one time only the last mark counts. */
  mark(ts: number, position_value = this.worth()): void {
    const { cash, reserved } = this.portfolio;
    const row = { ts_ms: ts, portfolio: this.portfolioNumber, cash, locked: reserved, position_value };
    if (this.marks.at(-1)?.ts_ms === ts) this.marks.pop();
    this.marks.push(row);
  }

  /** What all shares would fetch now, at the best recorded bids of both outcomes. */
  private worth(): number {
    let worth = 0;
    for (const market of this.portfolio.holding) {
      const { up, down } = this.portfolio.positions[market]!;
      const { bestBid, bestAsk } = this.markets[market]!.book;
      worth += notional(bestBid, up) + notional(DOLLAR - bestAsk, down);
    }
    return worth;
  }

  private deltas(
    market: number,
  ): Pick<PrivateEvent, 'cash' | 'available' | 'up' | 'up_locked' | 'down' | 'down_locked'> {
    const { told, portfolio } = this;
    const cash = portfolio.cash - told.cash;
    const available = portfolio.available - told.available;
    told.cash = portfolio.cash;
    told.available = portfolio.available;
    const position = portfolio.positions[market];
    if (!position) return { cash, available, up: 0, up_locked: 0, down: 0, down_locked: 0 };
    const change = {
      cash,
      available,
      up: position.up - told.up[market]!,
      up_locked: position.up_locked - told.upL[market]!,
      down: position.down - told.down[market]!,
      down_locked: position.down_locked - told.downL[market]!,
    };
    told.up[market] = position.up;
    told.upL[market] = position.up_locked;
    told.down[market] = position.down;
    told.downL[market] = position.down_locked;
    return change;
  }
}

const statusOf = ({ status }: Order): OrderRow['status'] =>
  status === 'sent' || status === 'held' || status === 'resting' ? 'open' : status;
