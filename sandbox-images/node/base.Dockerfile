FROM node:24-slim
COPY base.sh /tmp/
RUN sh /tmp/base.sh / && rm /tmp/base.sh
ENTRYPOINT []
CMD []
