import { readFileSync, readlinkSync } from 'node:fs';

/** Names this process so that another one, later, can tell whether it still lives. */
export function owner(): string {
  return identity('self') ?? `${process.platform}//${process.pid}/`;
}

/**
 * Whether the process that `label` names, by `owner`, lives: false only where that is certain. Unknown (null) for
 * a process on another machine, before a reboot, or in another container than ours.
 */
export function lives(label: string): boolean | null {
  const [boot, namespace, pid, started] = label.split('/');
  const self = owner().split('/');
  if (boot !== self[0] || namespace !== self[1] || !/^\d+$/.test(pid ?? '')) return null;
  if (started) return identity(pid) === label;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Boot, process namespace, pid and start time, as Linux tells them; null where it does not. */
function identity(pid: string): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may hold anything; the start time is the 20th field after it.
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return [boot, namespace, Number.parseInt(stat, 10), started].join('/');
  } catch {
    return null;
  }
}
