/** What of parquetjs-lite is used here; the package brings no types. */
declare module 'parquetjs-lite' {
  interface Field {
    readonly type: 'INT64' | 'DOUBLE' | 'UTF8';
    readonly optional: boolean;
    readonly compression: 'SNAPPY';
    readonly statistics: boolean;
  }
  interface Options {
    readonly pageIndex: boolean;
    readonly useDataPageV2: boolean;
    /** Rows. */
    readonly rowGroupSize: number;
  }
  /** A column of the rows that wait to be written, nulls left out of `values`; levels as Parquet has them. */
  export interface ColumnData {
    readonly values: (Buffer | number)[];
    readonly dlevels: number[];
    readonly rlevels: number[];
    readonly distinct_values: Set<unknown>;
    readonly count: number;
  }
  interface RowBuffer {
    readonly rowCount: number;
    readonly pageRowCount: number;
    readonly columnData: Record<string, ColumnData>;
    readonly pages: Record<string, unknown[]>;
  }
  type Row = Record<string, string | number | bigint | null>;

  class ParquetSchema {
    constructor(fields: Record<string, Field>);
    readonly schema: Record<string, Field>;
  }
  class ParquetEnvelopeWriter {
    constructor(
      schema: ParquetSchema,
      write: (bytes: Buffer) => unknown,
      close: () => void,
      offset: number,
      options: Options,
    );
  }
  export class ParquetWriter {
    rowBuffer: RowBuffer;
    constructor(schema: ParquetSchema, envelope: ParquetEnvelopeWriter, options: Options);
    appendRow(row: Row): Promise<void>;
    close(): Promise<void>;
  }
  class ParquetReader {
    static openFile(path: string): Promise<ParquetReader>;
    readonly schema: { readonly fields: Record<string, { primitiveType: string; originalType?: string }> };
    getCursor(): { next(): Promise<Row | null> };
    close(): Promise<void>;
  }
  const parquet: {
    ParquetSchema: typeof ParquetSchema;
    ParquetEnvelopeWriter: typeof ParquetEnvelopeWriter;
    ParquetWriter: typeof ParquetWriter;
    ParquetReader: typeof ParquetReader;
  };
  export default parquet;
}
