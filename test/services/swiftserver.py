"""OpenStack Swift with its S3 interface, all of it in one process.

swiftserver.py <folder> <access key> <secret key> <conditional: 1 or 0>

Prints its port once it listens; ends when its input does, so that it never outlives who started it. Swift keeps a PUT
from overwriting when it is asked to, but this version's S3 interface refuses to pass the question on; 1 lets it through.
"""

import os
import shutil
import sys

folder, access_key, secret_key, conditional = sys.argv[1:]
conf = os.path.join(folder, "swift.conf")
with open(conf, "w") as file:
    file.write("[swift-hash]\nswift_hash_path_suffix = fleet\n[storage-policy:0]\nname = only\ndefault = yes\n")

from swift.common import utils

utils.SWIFT_CONF_FILE = conf
utils.eventlet_monkey_patch()

import eventlet
import eventlet.wsgi
from swift.common.middleware.s3api.s3request import S3Request
from swift.common.ring import RingBuilder
from swift.common.wsgi import SwiftHttpProtocol, loadapp

COMMON = f"""[DEFAULT]
swift_dir = {folder}
devices = {folder}
mount_check = false
log_level = ERROR
"""
STORAGE = "[pipeline:main]\npipeline = {0}-server\n[app:{0}-server]\nuse = egg:swift#{0}\n"
user = access_key.replace(":", "_")
PROXY = f"""[pipeline:main]
pipeline = catch_errors gatekeeper listing_formats s3api tempauth proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
# A busy machine is no reason to give up on a disk.
conn_timeout = 30
node_timeout = 60
error_suppression_limit = 1000000
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_{user} = {secret_key} .admin
"""


class NoCache:
    """Stands in for memcached."""

    def get(self, *_, **__):
        return None

    set = delete = get


def validate_headers(request, validate=S3Request._validate_headers):
    asked = request.headers.pop("If-None-Match", None) if request.method == "PUT" else None
    validate(request)
    if asked is not None:
        request.headers["If-None-Match"] = asked


if conditional == "1":
    S3Request._validate_headers = validate_headers


def serve(name, text, sock):
    path = os.path.join(folder, f"{name}-server.conf")
    with open(path, "w") as file:
        file.write(COMMON + text)
    app = loadapp(path)

    def cached(env, start_response):
        env["swift.cache"] = NoCache()
        return app(env, start_response)

    silent = open(os.devnull, "w")
    eventlet.spawn_n(eventlet.wsgi.server, sock, cached, silent, protocol=SwiftHttpProtocol, debug=False)


os.mkdir(os.path.join(folder, "disk"))
sockets = {}
for name in ("account", "container", "object"):
    sockets[name] = eventlet.listen(("127.0.0.1", 0))
    ring = RingBuilder(part_power=0, replicas=1, min_part_hours=0)
    port = sockets[name].getsockname()[1]
    ring.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "disk", "weight": 1})
    ring.rebalance()
    ring.get_ring().save(os.path.join(folder, f"{name}.ring.gz"))
for name, sock in sockets.items():
    serve(name, STORAGE.format(name), sock)
entrance = eventlet.listen(("127.0.0.1", 0))
serve("proxy", PROXY, entrance)
print(entrance.getsockname()[1], flush=True)
eventlet.hubs.trampoline(sys.stdin, read=True)
shutil.rmtree(folder, ignore_errors=True)
