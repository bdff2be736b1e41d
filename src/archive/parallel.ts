/**
 * Calls `work` on every item, `width` at a time, and returns the results in the order of the items. After a failure no
 * other item is begun; it is thrown once those in work are done.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async () => {
    try {
      while (next < items.length) {
        const i = next++;
        results[i] = await work(items[i]);
      }
    } finally {
      // Without an error this is so already.
      next = items.length;
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: width }, lane));
  const failed = lanes.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  return results;
}
