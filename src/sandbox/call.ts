/** How long the engine may take to answer; under load a removal takes seconds. */
export const ENGINE_MS = 30_000;

/**
 * One call to the engine, with a time limit. Throws an Error that tells what could not be done and why, with the
 * client's own error as its cause.
 */
export async function engine<T>(
  what: string,
  call: (options: { abortSignal: AbortSignal }) => Promise<T>,
  limit_ms = ENGINE_MS,
): Promise<T> {
  const abortSignal = AbortSignal.timeout(limit_ms);
  // Some calls of the client pay no heed to a signal.
  const late = new Promise<never>((_, reject) => {
    abortSignal.addEventListener('abort', () => reject(abortSignal.reason));
  });
  try {
    return await Promise.race([call({ abortSignal }), late]);
  } catch (error) {
    const { name, message } = error as Error;
    const silent = name === 'AbortError' || name === 'TimeoutError';
    const why = silent ? `no answer within ${limit_ms / 1000} s` : message.trim();
    throw new Error(`The Docker engine could not ${what}: ${why}`, { cause: error });
  }
}

/** 200, or the engine's status where it is one of `fine`. */
export async function status(call: Promise<unknown>, fine: readonly number[]): Promise<number> {
  try {
    await call;
    return 200;
  } catch (error) {
    const { statusCode } = (error as Error).cause as { statusCode?: number };
    if (statusCode !== undefined && fine.includes(statusCode)) return statusCode;
    throw error;
  }
}
