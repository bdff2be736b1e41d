FROM python:3.14-slim
COPY python/requirements.txt base.sh /tmp/
RUN pip install --no-cache-dir --root-user-action=ignore --only-binary=:all: -r /tmp/requirements.txt \
 && find /usr/local/lib/python3.14/site-packages -type d -name tests -prune -exec rm -r {} + \
 && sh /tmp/base.sh / \
 && rm /tmp/requirements.txt /tmp/base.sh
CMD []
