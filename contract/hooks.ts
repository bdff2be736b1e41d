import type { Dataset } from './datasets.ts';
import { depths, feeds } from './datasets.ts';

/**
 * The hooks a strategy may implement. The position in this list is the hook's code on the wire.
 * `needs`: at least one of these datasets must be declared; `series` stands for a series of the strategy's own.
 */
export interface Hook {
  readonly python: string;
  readonly node: string;
  readonly needs: readonly (Dataset | 'series')[];
}

const hook = (python: string, needs: readonly (Dataset | 'series')[] = []): Hook => ({
  python,
  node: python.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  needs,
});

export const hooks: readonly Hook[] = [
  hook('on_start'),
  hook('on_market_open'),
  hook('on_strike'),
  hook('on_price', feeds),
  hook('on_book', depths),
  hook('on_quote', ['best_bid_ask']),
  hook('on_trade', ['last_trade_price']),
  hook('on_tick_size', ['tick_size_change']),
  hook('on_kline', ['klines']),
  hook('on_series', ['series']),
  hook('on_timer'),
  hook('on_order'),
  hook('on_fill'),
  hook('on_market_close'),
  hook('on_settle'),
  hook('on_stop'),
];
