//! Where the usual JSON logs have their fields.

/// What of a value is the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// An address, which may have a port.
    Address,
    /// A URL, or a request's target, without its query and its host.
    Path,
    /// The method of `GET /a HTTP/1.1`.
    RequestMethod,
    /// The target of `GET /a?b HTTP/1.1`.
    RequestUrl,
    /// The target of `GET /a?b HTTP/1.1` without its query.
    RequestPath,
}

use Part::{Address, Path, RequestMethod, RequestPath, RequestUrl, Whole};

/// The pointers that may be a field, the likeliest first.
pub(crate) type Shape = (&'static str, &'static [(&'static str, Part)]);

/// nginx (whose names are chosen by its users, mostly those of its variables), Caddy, Traefik, Envoy, Cloudflare,
/// Elastic's common schema, Google Cloud, and the loggers of Node.
pub(crate) const SHAPES: [Shape; 10] = [
    (
        "ip",
        &[
            ("/request/client_ip", Address),
            ("/request/remote_ip", Address),
            ("/request/remote_addr", Address),
            ("/remote_addr", Address),
            ("/ClientHost", Address),
            ("/ClientAddr", Address),
            ("/downstream_remote_address_without_port", Address),
            ("/downstream_remote_address", Address),
            ("/downstream_direct_remote_address", Address),
            ("/ClientIP", Address),
            ("/client_ip", Address),
            ("/clientip", Address),
            ("/clientIp", Address),
            ("/remote_ip", Address),
            ("/remoteIp", Address),
            ("/remote_host", Address),
            ("/httpRequest/remoteIp", Address),
            ("/source/ip", Address),
            ("/source.ip", Address),
            ("/client/ip", Address),
            ("/client.ip", Address),
            ("/req/remoteAddress", Address),
            ("/remoteAddress", Address),
            ("/remoteAddr", Address),
            ("/ip", Address),
            ("/ip_address", Address),
            ("/src_ip", Address),
            ("/client", Address),
        ],
    ),
    (
        "path",
        &[
            ("/request/uri", Path),
            ("/request_uri", Path),
            ("/RequestPath", Path),
            ("/ClientRequestURI", Path),
            ("/ClientRequestPath", Path),
            ("/httpRequest/requestUrl", Path),
            ("/url/path", Path),
            ("/url.path", Path),
            ("/req/url", Path),
            ("/x-envoy-original-path", Path),
            ("/x-envoy-origin-path", Path),
            ("/:path", Path),
            ("/uri", Path),
            ("/path", Path),
            ("/url", Path),
            ("/request", RequestPath),
        ],
    ),
    (
        "url",
        &[
            ("/request/uri", Whole),
            ("/request_uri", Whole),
            ("/RequestPath", Whole),
            ("/ClientRequestURI", Whole),
            ("/httpRequest/requestUrl", Whole),
            ("/url/original", Whole),
            ("/url.original", Whole),
            ("/req/url", Whole),
            ("/x-envoy-original-path", Whole),
            ("/x-envoy-origin-path", Whole),
            ("/:path", Whole),
            ("/uri", Whole),
            ("/path", Whole),
            ("/url", Whole),
            ("/request", RequestUrl),
        ],
    ),
    (
        "method",
        &[
            ("/request/method", Whole),
            ("/request_method", Whole),
            ("/RequestMethod", Whole),
            ("/ClientRequestMethod", Whole),
            ("/httpRequest/requestMethod", Whole),
            ("/http/request/method", Whole),
            ("/http.request.method", Whole),
            ("/req/method", Whole),
            ("/:method", Whole),
            ("/method", Whole),
            ("/verb", Whole),
            ("/request", RequestMethod),
        ],
    ),
    (
        "status",
        &[
            ("/DownstreamStatus", Whole),
            ("/response_code", Whole),
            ("/EdgeResponseStatus", Whole),
            ("/httpRequest/status", Whole),
            ("/http/response/status_code", Whole),
            ("/http.response.status_code", Whole),
            ("/res/statusCode", Whole),
            ("/status", Whole),
            ("/status_code", Whole),
            ("/statusCode", Whole),
        ],
    ),
    (
        "host",
        &[
            ("/request/host", Whole),
            ("/http_host", Whole),
            ("/RequestHost", Whole),
            ("/authority", Whole),
            ("/:authority", Whole),
            ("/ClientRequestHost", Whole),
            ("/url/domain", Whole),
            ("/url.domain", Whole),
            ("/server_name", Whole),
            ("/vhost", Whole),
            ("/host", Whole),
        ],
    ),
    (
        "user",
        &[
            ("/user_id", Whole),
            ("/remote_user", Whole),
            ("/ClientUsername", Whole),
            ("/user/name", Whole),
            ("/user.name", Whole),
            ("/username", Whole),
            ("/user", Whole),
        ],
    ),
    (
        "agent",
        &[
            ("/request/headers/User-Agent/0", Whole),
            ("/http_user_agent", Whole),
            ("/request_User-Agent", Whole),
            ("/ClientRequestUserAgent", Whole),
            ("/httpRequest/userAgent", Whole),
            ("/user_agent/original", Whole),
            ("/user_agent.original", Whole),
            ("/req/headers/user-agent", Whole),
            ("/user_agent", Whole),
            ("/user-agent", Whole),
            ("/userAgent", Whole),
            ("/agent", Whole),
        ],
    ),
    (
        "referer",
        &[
            ("/request/headers/Referer/0", Whole),
            ("/http_referer", Whole),
            ("/request_Referer", Whole),
            ("/ClientRequestReferer", Whole),
            ("/httpRequest/referer", Whole),
            ("/http/request/referrer", Whole),
            ("/req/headers/referer", Whole),
            ("/referer", Whole),
            ("/referrer", Whole),
        ],
    ),
    (
        "forwarded",
        &[
            ("/request/headers/X-Forwarded-For/0", Whole),
            ("/http_x_forwarded_for", Whole),
            ("/request_X-Forwarded-For", Whole),
            ("/x_forwarded_for", Whole),
            ("/x-forwarded-for", Whole),
            ("/req/headers/x-forwarded-for", Whole),
            ("/xff", Whole),
        ],
    ),
];

/// Where a line's time may be.
pub(crate) const TIMES: [&str; 18] = [
    "/time_iso8601",
    "/msec",
    "/ts",
    "/StartUTC",
    "/start_time",
    "/EdgeStartTimestamp",
    "/@timestamp",
    "/timestamp",
    "/time",
    "/datetime",
    "/date_time",
    "/time_local",
    "/StartLocal",
    "/date",
    "/epoch",
    "/event_time",
    "/t",
    "/when",
];
