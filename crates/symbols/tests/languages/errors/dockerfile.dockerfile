FROM
FROM scratch AS
ENV =1
FROM scratch AS first
RUN <<EOF
FROM scratch AS second
