import { z } from 'zod';
import { manifest } from './manifest.ts';

/** A text file of a strategy. The name is relative to the strategy's folder, with `/` between folder and file. */
export const sourceFile = z.strictObject({ name: z.string(), content: z.string() });
export type SourceFile = z.infer<typeof sourceFile>;

/** What is known of a strategy that passed the check. */
export const checked = z.object({
  manifest,
  /** Hooks found, in the order of `hooks`, by their names in the strategy's language. */
  hooks: z.array(z.string()),
  files: z.array(z.object({ name: z.string(), bytes: z.number().int() })),
  total_bytes: z.number().int(),
  /** Modules from outside of the strategy, by their first name (`numpy`, `node:fs`), sorted. */
  imports: z.array(z.string()),
  /** Hash of all files, names and contents; lower-case hex. */
  source_sha256: z.string(),
  /** Whether `levels` is named in any file but the manifest: only then does a box keep whole books. */
  depth: z.boolean(),
});
export type Checked = z.infer<typeof checked>;
