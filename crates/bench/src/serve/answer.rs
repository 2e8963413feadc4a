//! An answer taken apart: over HTTP (RFC 9112), or from a CGI program (RFC 3875).

use std::io;
use std::str;

/// The head of an answer may be so long.
const LONGEST_HEAD: usize = 64 << 10;
/// And its body: more than any answer of the interface has.
const LONGEST_BODY: usize = 64 << 20;

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    pub(super) body: &'a [u8],
}

/// What is known of an answer before its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    status: u16,
    start: usize,
    length: usize,
}

impl Head {
    /// The head that these bytes begin with; none if there is not all of it yet.
    ///
    /// # Errors
    ///
    /// If there is no status or no length in it, or it is too long.
    pub(super) fn parse(bytes: &[u8]) -> io::Result<Option<Self>> {
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return if bytes.len() < LONGEST_HEAD {
                Ok(None)
            } else {
                Err(invalid("an answer's head is too long"))
            };
        };
        let head = str::from_utf8(&bytes[..end]).map_err(|_| invalid("an answer's head is not text"))?;
        let status = status(head).ok_or_else(|| invalid("an answer has no status"))?;
        let length = field(head, "Content-Length").and_then(|length| length.parse().ok());
        let length = length.filter(|&length| length <= LONGEST_BODY);
        let length = length.ok_or_else(|| invalid("an answer does not tell its length"))?;
        Ok(Some(Self { status, start: end + 4, length }))
    }

    /// How many bytes the answer has, with this head.
    pub(super) fn end(&self) -> usize {
        self.start + self.length
    }

    /// The answer that these bytes are.
    ///
    /// # Errors
    ///
    /// If there are more bytes, or fewer.
    pub(super) fn answer<'a>(&self, bytes: &'a [u8]) -> io::Result<Answer<'a>> {
        match bytes.get(self.start..) {
            Some(body) if body.len() == self.length => Ok(Answer { status: self.status, body }),
            _ => Err(invalid("an answer has another length than it tells")),
        }
    }
}

/// The status: in the first line over HTTP, in a field of its own from a CGI program.
fn status(head: &str) -> Option<u16> {
    match head.strip_prefix("HTTP/1.1 ") {
        Some(rest) => rest.get(..3)?.parse().ok(),
        None => field(head, "Status")?.get(..3)?.parse().ok(),
    }
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
    fields.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn invalid(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(bytes: &[u8]) -> io::Result<Option<Answer<'_>>> {
        Head::parse(bytes)?.map(|head| head.answer(bytes)).transpose()
    }

    #[test]
    fn answers_of_servers_and_programs_are_understood() {
        let served = b"HTTP/1.1 200 OK\r\ncontent-type: x\r\nCONTENT-LENGTH: 2\r\n\r\n{}";
        assert_eq!(answer(served).expect("an answer"), Some(Answer { status: 200, body: b"{}" }));
        let printed = b"Status: 404\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(answer(printed).expect("an answer"), Some(Answer { status: 404, body: b"" }));
        assert_eq!(answer(b"HTTP/1.1 200 OK\r\nConte").expect("no error"), None);
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for (bytes, reason) in [
            ("Content-Length: 2\r\n\r\n{}", "an answer has no status"),
            ("HTTP/1.1 200 OK\r\n\r\n{}", "an answer does not tell its length"),
            ("Status: 200\r\nContent-Length: 3\r\n\r\n{}", "an answer has another length than it tells"),
            ("Status: 200\r\nContent-Length: 1\r\n\r\n{}", "an answer has another length than it tells"),
            ("Status: 200\r\nContent-Length: 99999999999\r\n\r\n", "an answer does not tell its length"),
        ] {
            assert_eq!(answer(bytes.as_bytes()).expect_err(bytes).to_string(), reason);
        }
        assert!(answer(&[b'x'; LONGEST_HEAD]).is_err());
    }
}
