# Classic builder only: no RUN --mount, COPY --chmod, here-documents or TARGETARCH. One pulled image at most, which a machine
# without a registry of images makes itself (docs/guides/docker.md).
ARG BASE_IMAGE=debian:trixie-slim

# The install tree: staged on the host by "npm run image:payload" in .payload/, or made here from the lock file.
FROM ${BASE_IMAGE} AS payload
ARG SOURCE_DATE_EPOCH=0
COPY . /src
WORKDIR /src
RUN if [ -d .payload ]; then mv .payload /payload; else \
      apt-get update && \
      apt-get install -y --no-install-recommends ca-certificates npm && \
      npm install --global --prefix /npm "$(node -p '"npm@"+require("./package.json").devDependencies.npm')" && \
      /npm/bin/npm ci && \
      SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} /npm/bin/npm run image:payload -- --out /payload; \
    fi && \
    cp -r docker/rootfs/. /payload/ && \
    chmod -R u=rwX,go=rX /payload && \
    chmod 755 /payload/init /payload/usr/bin/tini /payload/opt/hermes/bin/hermes && \
    find /payload/opt/hermes/libexec /payload/opt/hermes/docker -type f -exec chmod 755 {} + && \
    printf 'docker\n' >/payload/opt/hermes/.install_method

FROM ${BASE_IMAGE}
ARG EXTRA_APT=""
ARG HERMES_GIT_SHA=""
ARG HERMES_VERSION=""
ARG HERMES_CREATED=""
RUN apt-get update && \
    apt-get install -y --no-install-recommends \
      s6 execline git ripgrep ca-certificates procps curl openssh-client tzdata less jq unzip xz-utils \
      libstdc++6 libatomic1 ${EXTRA_APT} && \
    dpkg-query --show --showformat='${Package} ${Version}\n' >/packages.txt && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
      /usr/share/doc/* /usr/share/man/* /usr/share/locale/* /usr/share/info/* && \
    groupadd --gid 10000 hermes && \
    useradd --uid 10000 --gid 10000 --home-dir /opt/data --no-create-home --shell /bin/bash hermes
COPY --from=payload /payload/ /
# /run is open as /tmp is: a tmpfs there takes over its mode, and with --user hermes makes everything in it. Root closes it (/init).
RUN mkdir -p /command /etc/hermes/boot.d /run/s6/basedir /run/service /run/hermes /opt/data && \
    for package in s6 execline; do dpkg-query --listfiles "$package"; done | \
      while read -r file; do case $file in */bin/*) [ -x "$file" ] && ln -sf "$file" /command/;; esac; done && \
    printf '#!/bin/sh\n# The environment is inherited here.\nexec "$@"\n' >/command/with-contenv && \
    mv /packages.txt /opt/hermes/share/packages.txt && \
    if [ -n "${HERMES_GIT_SHA}" ]; then printf '%s\n' "${HERMES_GIT_SHA}" >/opt/hermes/.hermes_build_sha; fi && \
    chmod 755 /command/with-contenv && \
    /opt/hermes/share/warm-up && \
    chown hermes:hermes /run/service /run/hermes /opt/data && \
    chmod 755 /run/s6 /run/s6/basedir /run/service /run/hermes /opt/data && \
    chmod 1777 /run && \
    [ "$(/opt/hermes/bin/node --version)" = "$(cat /opt/hermes/share/node-version)" ] && \
    dpkg --compare-versions "$(dpkg-query --show --showformat='${Version}' s6)" ge 2.13
LABEL org.opencontainers.image.title="Hermes" \
      org.opencontainers.image.description="A self-hosted AI agent in one container" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${HERMES_VERSION}" \
      org.opencontainers.image.revision="${HERMES_GIT_SHA}" \
      org.opencontainers.image.created="${HERMES_CREATED}" \
      io.hermes.contract="1"
ENV HERMES_HOME=/opt/data \
    PATH=/opt/hermes/bin:/opt/data/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    NODE_ENV=production \
    LANG=C.UTF-8 \
    HERMES_WRITE_SAFE_ROOT=/opt/data
WORKDIR /opt/data
VOLUME /opt/data
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["/opt/hermes/bin/hermes", "probe", "--self"]
ENTRYPOINT ["/init"]
CMD []
