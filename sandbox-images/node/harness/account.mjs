import { EventKind, Hook, liquidityNames, outcomeNames, reasons, sideNames, statuses } from './codes.mjs';

/** An order, or a merge or split, that the strategy sent. `limit`, `size`, `remaining` are null while not known. */
export class Order {
  constructor(
    id,
    number,
    { market = null, outcome = null, side = null, limit = null, size = null, tag = null } = {},
  ) {
    this.id = id;
    this.market = market;
    this.outcome = outcome;
    this.side = side;
    this.limit = limit;
    this.size = size;
    this.remaining = size;
    this.status = 'sent';
    this.tag = tag;
    Object.defineProperty(this, '_number', { value: number });
  }
}

/**
 * What the strategy owns and what it has asked for, as far as it has been told. Cash in millionths of a dollar, shares
 * in ten-thousandths; both whole numbers, changed by events alone.
 */
export class Account {
  constructor(capital) {
    this.cash = this.available = Math.round(capital * 1e6);
    /** By market index: up, up locked, down, down locked. */
    this.positions = new Map();
    /** Every order by its id. */
    this.orders = new Map();
    this.live = new Map();
    /** Whom the answer to a command is about. */
    this.byNumber = new Map();
    this.counts = new Map();
  }

  /** `<market>#1` and so on; `mark` tells orders from merges and splits. */
  nextId(marketId, mark) {
    const key = marketId + mark;
    const count = (this.counts.get(key) ?? 0) + 1;
    this.counts.set(key, count);
    return `${key}${count}`;
  }

  sent(order) {
    this.orders.set(order.id, order);
    this.live.set(order.id, order);
    this.byNumber.set(order._number, order);
  }

  /** The answer to command `number` will be about `subject`. */
  expect(number, subject) {
    this.byNumber.set(number, subject);
  }

  position(index, down) {
    const held = this.positions.get(index);
    if (!held) return { shares: 0, locked: 0 };
    const first = down ? 2 : 0;
    return { shares: held[first] / 10000, locked: held[first + 1] / 10000 };
  }

  /** Takes in an event; returns its hook and what the hook is called with. */
  apply(event, market) {
    this.cash += event.cash;
    this.available += event.available;
    this.move(event);
    const common = { market, tsMs: event.ts, eventTsMs: event.event_ts };
    const { kind } = event;
    if (kind === EventKind.settle) {
      const final = Number.isNaN(event.price) ? null : event.price;
      return [Hook.onSettle, { ...common, outcome: outcomeNames[event.outcome], final }];
    }
    const order = this.byNumber.get(event.number) ?? new Order(null, event.number);
    if (kind !== EventKind.cancel_rejected && kind !== EventKind.converted) this.follow(order, event);
    const amounts = { remaining: event.remaining / 10000, size: event.size / 10000, tag: order.tag };
    if (kind === EventKind.fill) {
      const fill = {
        ...common,
        orderId: order.id,
        outcome: outcomeNames[event.outcome],
        side: sideNames[event.side],
        price: event.price / 10000,
        fee: event.fee / 1_000_000,
        liquidity: liquidityNames[event.liquidity],
        ...amounts,
      };
      return [Hook.onFill, fill];
    }
    const { id, outcome, side } = order;
    return [
      Hook.onOrder,
      { ...common, id, outcome, side, status: statuses[kind], reason: reasons[event.reason], ...amounts },
    ];
  }

  move({ market, up, up_locked, down, down_locked }) {
    if (!(up || up_locked || down || down_locked)) return;
    const held = this.positions.get(market) ?? [0, 0, 0, 0];
    held[0] += up;
    held[1] += up_locked;
    held[2] += down;
    held[3] += down_locked;
    if (held.some(Boolean)) this.positions.set(market, held);
    else this.positions.delete(market);
  }

  follow(order, { kind, size, remaining }) {
    order.remaining = remaining / 10000;
    if (kind !== EventKind.fill) {
      order.size = size / 10000;
      order.status = statuses[kind];
    } else if (remaining === 0) {
      order.status = 'filled';
    }
    const done = kind === EventKind.rejected || kind === EventKind.cancelled || kind === EventKind.expired;
    if (done || remaining === 0) this.live.delete(order.id);
  }
}
