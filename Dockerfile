FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY . .
RUN go build -trimpath -tags netgo,osusergo,sqlite_omit_load_extension -ldflags "-s -w -linkmode=external -extldflags=-static" -o /streamgauge ./cmd/streamgauge

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --create-home --home-dir /data gauge
COPY --from=build /streamgauge /usr/local/bin/streamgauge
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["streamgauge"]
CMD ["serve", "--schedule", "*/10 * * * *", "--addr", "0.0.0.0:8080", "--data", "/data/record", "--site", "/data/public"]
