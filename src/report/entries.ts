import type { Report, UnitResult } from '../../contract/report.ts';
import { csv } from './csv.ts';
import type { Curve } from './equity.ts';
import { parquetFile } from './parquet.ts';
import type { ReportInput } from './report.ts';
import { type Table, tables } from './tables.ts';

type Chunks = Iterable<string> | AsyncIterable<Buffer>;

/** A file of the report, its content made while it is written. */
export interface Entry {
  readonly name: string;
  readonly chunks: Chunks;
}

const tableNames = ['orders', 'fills', 'equity', 'markets'];

/** Every file of the archive, in its order. */
export const entryNames: readonly string[] = [
  'report.json',
  ...tableNames.flatMap((name) => [`${name}.csv`, `${name}.parquet`]),
  'logs.txt',
  'manifest.json',
  'provenance.json',
  'sha256sums.txt',
];

/** The files that the run alone decides: all but `provenance.json` and the sums. */
export function* entries(
  input: ReportInput,
  report: Report,
  curve: Curve,
  manifestText: string,
): Generator<Entry> {
  yield { name: 'report.json', chunks: [`${JSON.stringify(report, null, 2)}\n`] };
  for (const table of tables(input.units, curve)) {
    const { name } = table;
    // The tables differ in what a row is; what writes them does not care.
    const any = table as Table<unknown>;
    yield { name: `${name}.csv`, chunks: csv(any) };
    yield { name: `${name}.parquet`, chunks: parquetFile(any) };
  }
  yield { name: 'logs.txt', chunks: logs(input.units) };
  yield { name: 'manifest.json', chunks: [manifestText] };
}

/** One line for each: time, market (empty in session mode) and text. A line break inside of a text is shown as `\n`. */
function* logs(units: readonly UnitResult[]): Generator<string> {
  for (const unit of units) {
    for (const { ts_ms, market, text } of unit.logs) {
      const line = text.replace(/\r\n|\n|\r/g, '\\n');
      yield `${new Date(ts_ms).toISOString()} ${market} ${line}\n`;
    }
  }
}
