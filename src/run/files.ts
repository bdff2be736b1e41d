import {
  DAY_MS,
  type Dataset,
  dayStart,
  dayText,
  depths,
  feeds,
  type Manifest,
  type MarketDay,
} from '../../contract/index.ts';
import type { Staged } from '../archive/staged.ts';

/** A file of the archive, named by what it holds. */
export interface FileKey {
  readonly dataset: Dataset;
  readonly asset: string;
  readonly interval: string | null;
  readonly date: string;
}

/** Finds a staged file; undefined where the archive has none. */
export type Find = <D extends Dataset>(
  dataset: D,
  asset: string,
  interval: string | null,
  date: string,
) => Staged<D> | undefined;

export const keyText = ({ dataset, asset, interval, date }: FileKey): string =>
  `${asset} ${dataset} ${interval ?? '-'} ${date}`;

export const nextDay = (date: string): string => dayText(dayStart(date) + DAY_MS);
export const dayBefore = (date: string): string => dayText(dayStart(date) - DAY_MS);

/** Whether a dataset belongs to an asset rather than to a market. */
export const isFeed = (dataset: Dataset): dataset is 'prices' | 'twap30s' | 'twap60s' =>
  (feeds as readonly string[]).includes(dataset);

/** Datasets that the exchange uses whether the manifest declares them or not: else declaring one would change fills. */
const venueDatasets: readonly Dataset[] = [...depths, 'last_trade_price', 'tick_size_change'];

/** The candles that tell the strike of a market which they settle. */
export const STRIKE_KLINE = '1m';

/** The markets files that market-days need, and those of their context. */
export function marketsFilesOf(manifest: Manifest, marketDays: readonly MarketDay[]): FileKey[] {
  const files = new Files();
  for (const day of [...marketDays, ...contextDays(manifest, marketDays)])
    files.add({ dataset: 'markets', ...day });
  return files.all;
}

/** Market-days that come as context: of other markets than those that are traded, each once. */
export function contextDays(manifest: Manifest, marketDays: readonly MarketDay[]): MarketDay[] {
  const textOf = ({ asset, interval, date }: MarketDay): string => `${asset} ${interval} ${date}`;
  const own = new Set(marketDays.map(textOf));
  const days = new Map<string, MarketDay>();
  for (const { date } of marketDays)
    for (const { asset, interval, dataset } of manifest.context) {
      if (!interval || isFeed(dataset) || dataset === 'klines') continue;
      const day = { asset, interval, date };
      if (!own.has(textOf(day))) days.set(textOf(day), day);
    }
  return [...days.values()];
}

/** The datasets that the context asks of the markets of a market-day. */
export const askedOf = ({ context }: Manifest, { asset, interval }: MarketDay): Dataset[] =>
  context.filter((one) => one.asset === asset && one.interval === interval).map((one) => one.dataset);

/**
 * The other files that market-days may need, declared or not; the archive may lack those that are not declared.
 * @param crosses whether a market of that asset, interval and day lives past midnight, so that the next day is needed.
 */
export function filesOf(
  manifest: Manifest,
  marketDays: readonly MarketDay[],
  crosses: (marketDay: MarketDay) => boolean,
): FileKey[] {
  const files = new Files();
  const datesOf = (day: MarketDay): string[] => (crosses(day) ? [day.date, nextDay(day.date)] : [day.date]);
  for (const day of [...marketDays, ...contextDays(manifest, marketDays)]) {
    const dates = datesOf(day);
    files.market(day, askedOf(manifest, day), dates);
    // Whatever settles a market tells its strike, declared or not.
    for (const dataset of feeds) files.asset(dataset, day.asset, [], dates);
    files.asset('klines', day.asset, [STRIKE_KLINE], dates);
  }
  for (const marketDay of marketDays) {
    const { asset, date } = marketDay;
    const dates = datesOf(marketDay);
    const history = manifest.warmup_ms > 0 ? [dayBefore(date), ...dates] : dates;
    files.market(marketDay, [...venueDatasets, ...manifest.datasets], dates);
    for (const dataset of manifest.datasets) files.asset(dataset, asset, manifest.kline_intervals, history);
    for (const context of manifest.context)
      files.asset(context.dataset, context.asset, context.interval ? [context.interval] : [], history);
  }
  return files.all;
}

/** A set of files, each once. */
class Files {
  private readonly keys = new Map<string, FileKey>();

  get all(): FileKey[] {
    return [...this.keys.values()];
  }

  add(key: FileKey): void {
    this.keys.set(keyText(key), key);
  }

  market({ asset, interval }: MarketDay, datasets: readonly Dataset[], dates: readonly string[]): void {
    for (const dataset of datasets)
      if (!isFeed(dataset) && dataset !== 'klines' && dataset !== 'markets')
        for (const date of dates) this.add({ dataset, asset, interval, date });
  }

  asset(dataset: Dataset, asset: string, klineIntervals: readonly string[], dates: readonly string[]): void {
    for (const date of dates) {
      if (isFeed(dataset)) this.add({ dataset, asset, interval: null, date });
      else if (dataset === 'klines')
        for (const interval of klineIntervals) this.add({ dataset, asset, interval, date });
    }
  }
}
