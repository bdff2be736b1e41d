import { z } from 'zod';
import { quote } from './quote.ts';
import { checked, sourceFile } from './source.ts';

const marketDay = z.object({ asset: z.string(), interval: z.string(), date: z.string() });
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * A submission as it was understood when it was accepted: all that a worker needs, so that nobody checks or resolves a
 * second time. Stored as one object.
 */
export const plan = z.object({
  format: z.literal(1),
  checked,
  manifest_text: z.string(),
  /** Source as the box gets it: without the manifest, types taken out. */
  files: z.array(sourceFile),
  /** Uploaded series: the file's name in the manifest, and the object that holds it. */
  series: z.array(z.object({ file: z.string(), object: z.string(), sha256 })),
  quote,
  market_days: z.array(marketDay),
});
export type Plan = z.infer<typeof plan>;
