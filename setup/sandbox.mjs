// Gets the Docker engine and the sandbox images ready, as far as this machine and user allow.

/** Null when containers can be used, else why not. Call after prepare(). */
export async function sandboxProblem() {
  const log = (line) => console.error(line);
  try {
    const { ensureEngine } = await import('../dist/src/sandbox/engine.js');
    const { ensureImages } = await import('../dist/src/sandbox/images.js');
    const docker = await ensureEngine(log, { host: process.env.DOCKER_HOST || undefined });
    await ensureImages({ docker, log });
    return null;
  } catch (error) {
    return error.message;
  }
}
