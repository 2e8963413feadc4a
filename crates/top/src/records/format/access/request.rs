//! Parts of requests and URLs.

use finecomb_sys::simd::Masks;
use memchr::memrchr;

use super::ends::find_byte;
use crate::cells::Span;

/// A value of a variable, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValuePart {
    /// The value.
    Whole,
    /// The number after a space, if the value is nothing else.
    LoneNumber,
    /// A part of a request.
    Request(RequestPart),
    /// A URL up to the first `?`.
    PathOfUrl,
    /// A URL after the first `?`.
    QueryOfUrl,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestPart {
    Method,
    Url,
    /// The URL up to the first `?`.
    Path,
    /// The URL after the first `?`.
    Query,
    Protocol,
}

impl ValuePart {
    /// Returns the part of a value, if it has it.
    #[inline(always)]
    pub(super) fn of<M: Masks>(self, masks: M, text: &[u8], value: Span) -> Option<Span> {
        match self {
            Self::Whole => Some(value),
            Self::LoneNumber => lone_number(text, value),
            Self::Request(part) => part.of(&Request::parse(masks, text, value, part.needs_mark())?),
            Self::PathOfUrl => Some(path(value, find_mark(masks, text, value))),
            Self::QueryOfUrl => query(value, find_mark(masks, text, value)),
        }
    }
}

impl RequestPart {
    /// Returns the part of a request, if it has it.
    #[inline(always)]
    pub(super) fn of(self, request: &Request) -> Option<Span> {
        match self {
            Self::Method => Some(request.method),
            Self::Url => Some(request.url),
            Self::Path => Some(path(request.url, request.mark)),
            Self::Query => query(request.url, request.mark),
            Self::Protocol => Some(request.protocol),
        }
    }

    /// Whether the part ends or begins at the question mark.
    pub(super) fn needs_mark(self) -> bool {
        matches!(self, Self::Path | Self::Query)
    }
}

/// The first line of a request: a method up to the first space, a protocol after the last space, and a URL, which may
/// contain spaces, between them.
pub(super) struct Request {
    method: Span,
    url: Span,
    /// Position of the first question mark of the URL, if that is wanted.
    mark: Option<usize>,
    protocol: Span,
}

impl Request {
    /// Returns `None` unless the line has three parts and the last begins like `HTTP/1`.
    #[inline(always)]
    pub(super) fn parse<M: Masks>(
        masks: M,
        text: &[u8],
        (start, end): Span,
        wants_mark: bool,
    ) -> Option<Self> {
        let after_method = find_byte(masks, text, start, end, b' ')?;
        // Nearly all requests end with a protocol of this form, which saves the search for the last space.
        let before_protocol = match text[start..end].last_chunk() {
            Some([b' ', b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9']) => end - 9,
            _ => start + before_protocol(&text[start..end])?,
        };
        // A method, a space, a URL and a space.
        if after_method == start || before_protocol <= after_method + 1 {
            return None;
        }
        let url = (after_method + 1, before_protocol);
        let mark = if wants_mark { find_mark(masks, text, url) } else { None };
        Some(Self { method: (start, after_method), url, mark, protocol: (before_protocol + 1, end) })
    }
}

/// Position of the last space, if a protocol follows: capital letters, a slash, and a digit.
#[cold]
#[inline(never)]
fn before_protocol(request: &[u8]) -> Option<usize> {
    let space = memrchr(b' ', request)?;
    let protocol = &request[space + 1..];
    let letters = protocol.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let is_protocol = letters > 0 && matches!(protocol[letters..], [b'/', b'0'..=b'9', ..]);
    is_protocol.then_some(space)
}

#[inline(always)]
fn find_mark<M: Masks>(masks: M, text: &[u8], (start, end): Span) -> Option<usize> {
    find_byte(masks, text, start, end, b'?')
}

#[inline(always)]
fn path((start, end): Span, mark: Option<usize>) -> Span {
    (start, mark.unwrap_or(end))
}

#[inline(always)]
fn query((_, end): Span, mark: Option<usize>) -> Option<Span> {
    mark.map(|mark| (mark + 1, end))
}

/// Returns the number after a space: digits, with or without a decimal point and more digits.
fn lone_number(text: &[u8], (start, end): Span) -> Option<Span> {
    let number = text[start..end].strip_prefix(b" ")?;
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(number);
    let is_number = whole > 0
        && match &number[whole..] {
            [] => true,
            [b'.', decimals @ ..] => !decimals.is_empty() && digits(decimals) == decimals.len(),
            _ => false,
        };
    is_number.then_some((start + 1, end))
}

#[cfg(test)]
mod tests {
    use finecomb_sys::simd::{Kernel, dispatch};

    use super::*;
    use crate::cells::bytes_of;

    struct Find<'t>(ValuePart, &'t str);

    impl<'t> Kernel for Find<'t> {
        type Output = Option<&'t str>;

        #[inline(always)]
        fn run<M: Masks>(self, masks: M) -> Option<&'t str> {
            let text = self.1.as_bytes();
            let span = self.0.of(masks, text, (0, text.len()))?;
            Some(str::from_utf8(bytes_of(text, span)).expect("UTF-8"))
        }
    }

    fn part(part: ValuePart, text: &str) -> Option<&str> {
        dispatch(Find(part, text))
    }

    fn parts(request: &str) -> [Option<&str>; 5] {
        use RequestPart::*;
        [Method, Url, Path, Query, Protocol].map(|wanted| part(ValuePart::Request(wanted), request))
    }

    #[test]
    fn a_request_has_three_parts() {
        let get = Some("GET");
        let http = Some("HTTP/1.1");
        assert_eq!(parts("GET /a HTTP/1.1"), [get, Some("/a"), Some("/a"), None, http]);
        assert_eq!(parts("GET /a?b=c?d HTTP/1.1"), [get, Some("/a?b=c?d"), Some("/a"), Some("b=c?d"), http]);
        assert_eq!(parts("GET /a? HTTP/1.1"), [get, Some("/a?"), Some("/a"), Some(""), http]);
        assert_eq!(parts("GET ? HTTP/1.1"), [get, Some("?"), Some(""), Some(""), http]);
        let absolute = Some("http://x/y");
        assert_eq!(parts("GET http://x/y HTTP/1.1"), [get, absolute, absolute, None, http]);
    }

    #[test]
    fn a_url_may_contain_spaces() {
        let url = Some("/a b HTTP/1.1 ?c d");
        let expected = [Some("GET"), url, Some("/a b HTTP/1.1 "), Some("c d"), Some("HTTP/1.0")];
        assert_eq!(parts("GET /a b HTTP/1.1 ?c d HTTP/1.0"), expected);
        assert_eq!(parts("GET   HTTP/1.0")[1], Some(" "));
    }

    #[test]
    fn protocols_are_letters_and_a_number() {
        assert_eq!(parts("OPTIONS * RTSP/1.0")[4], Some("RTSP/1.0"));
        assert_eq!(parts("GET / HTTP/2")[4], Some("HTTP/2"));
        assert_eq!(parts("GET / HTTP/1.1\\r")[4], Some("HTTP/1.1\\r"));
        for request in
            ["GET / http/1.1", "GET /a b", "GET /a /1", "GET / HTTP", "GET / HTTP/", "GET / HTTP/x"]
        {
            assert_eq!(parts(request), [None; 5], "{request}");
        }
    }

    #[test]
    fn other_requests_have_no_parts() {
        for request in [
            "",
            "-",
            " ",
            "GET",
            "GET /",
            "GET HTTP/1.1",
            "GET  HTTP/1.1",
            " / HTTP/1.1",
            "  HTTP/1.1",
            r"\x16\x03 \x01 ab",
        ] {
            assert_eq!(parts(request), [None; 5], "{request}");
        }
    }

    #[test]
    fn a_lone_number_follows_a_space() {
        for (text, number) in [(" 12", "12"), (" 0.123", "0.123")] {
            assert_eq!(part(ValuePart::LoneNumber, text), Some(number));
        }
        for text in ["", " ", "12", " 12 ", " 1 2", " -", " 1.", " .1", " 1.2.3", "  1", " \"1\""] {
            assert_eq!(part(ValuePart::LoneNumber, text), None, "{text}");
        }
    }
}
