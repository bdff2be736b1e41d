import type { Dataset } from './datasets.ts';
import { depths, feeds } from './datasets.ts';

/**
 * The hooks a strategy may implement. The position in this list is the hook's code on the wire.
 * `needs`: at least one of these datasets must be declared; `series` stands for a series of the strategy's own.
 */
export interface Hook {
  readonly python: string;
  readonly node: string;
  /** What the hook is called with after ctx; null: nothing. */
  readonly event: string | null;
  readonly needs: readonly (Dataset | 'series')[];
}

const hook = (python: string, event: string | null, needs: readonly (Dataset | 'series')[] = []): Hook => ({
  python,
  node: python.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  event,
  needs,
});

export const hooks: readonly Hook[] = [
  hook('on_start', null),
  hook('on_market_open', 'market'),
  hook('on_strike', 'market'),
  hook('on_price', 'tick', feeds),
  hook('on_book', 'change', depths),
  hook('on_quote', 'quote', ['best_bid_ask']),
  hook('on_trade', 'trade', ['last_trade_price']),
  hook('on_tick_size', 'change', ['tick_size_change']),
  hook('on_kline', 'kline', ['klines']),
  hook('on_series', 'row', ['series']),
  hook('on_timer', 'timer'),
  hook('on_order', 'update'),
  hook('on_fill', 'fill'),
  hook('on_market_close', 'market'),
  hook('on_settle', 'settlement'),
  hook('on_stop', null),
];
