# escape=\
# FROM commented AS no
ARG VERSION=1.0 BASE
FROM --platform=$BUILDPLATFORM golang:${VERSION} AS builder
ENV GOPATH=/go GOFLAGS="-v -x" \
    # a comment
    CGO_ENABLED=0 ESCAPED=a\ b=c

ENV OLD value = more
RUN cat <<EOF <<-"SECOND" > /a && \
    echo $((1 << 2))
FROM scratch AS no
EOF
FROM scratch AS neither
	SECOND
copy --from=builder /a /b
from scratch as runtime
arg inner
LABEL FROM=scratch
FROM alpine
ENV LAST=1
FROM builder AS
FROM builder AS debug
