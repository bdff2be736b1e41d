#!/bin/sh
# The last step of every base image, whatever it was made from. Usage: base.sh ROOT
set -eu
root=${1%/}
echo 'strategy:x:10001:10001::/work:/usr/sbin/nologin' >> "$root/etc/passwd"
echo 'strategy:x:10001:' >> "$root/etc/group"
mkdir -p "$root/work" "$root/opt/harness"
chown 10001:10001 "$root/work"
# Nobody in the box has a use for set-uid programs.
find "$root/" -xdev -type f -perm /6000 -exec chmod a-s {} +
# A box has a read-only root, so the libraries' bytecode must be there already. It is only a matter of
# speed: a file that does not compile is no reason to stop.
for lib in /usr/lib/python3 /usr/local/lib/python3.14; do
  if [ -d "$root$lib" ]; then chroot "$root/" python3 -m compileall -q -j 0 "$lib" || true; fi
done
