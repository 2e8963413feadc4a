//! Hyperlinks from printed paths to files, as escape sequences.

use bstr::ByteSlice;
use grep_printer::HyperlinkFormat;

/// Escape sequence that ends a hyperlink.
const CLOSE: &[u8] = b"\x1b]8;;\x1b\\";

/// Format of the hyperlinks to files.
#[derive(Clone, Debug)]
pub struct Hyperlink {
    /// URL with variables for the path, the line and the column.
    url: String,
}

impl Hyperlink {
    /// Makes a format for this host and, on Windows, this distribution of Linux.
    pub fn new(format: &HyperlinkFormat, host: Option<&str>, wsl_prefix: Option<&str>) -> Self {
        let url = format.to_string().replace("{host}", host.unwrap_or_default());
        Self { url: url.replace("{wslprefix}", wsl_prefix.unwrap_or_default()) }
    }

    /// The format, for ripgrep's printers.
    #[cfg(test)]
    pub(crate) fn config(&self) -> grep_printer::HyperlinkConfig {
        self.url.parse::<HyperlinkFormat>().unwrap().into_config(Default::default())
    }

    /// Returns the hyperlink to a file; `None` if there is none of this path, as for standard input.
    pub(crate) fn to_file(&self, path: &[u8]) -> Option<FileLink> {
        let path = path.to_path().ok()?.canonicalize().ok()?;
        let url = self.url.as_bytes().replace("{path}", encoded(path.as_os_str().as_encoded_bytes()));
        Some(FileLink { url, has_line: self.url.contains("{line}") })
    }
}

/// Returns a path with the bytes replaced that cannot be in a URL.
fn encoded(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    for &byte in path {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'/' | b':' | b'-' | b'.' | b'_' | b'~' | 128.. => {
                out.push(byte)
            }
            _ => out.extend(format!("%{byte:02X}").bytes()),
        }
    }
    out
}

/// Hyperlink to a file or a line of it.
pub(crate) struct FileLink {
    url: Vec<u8>,
    /// Whether the URL contains the number of a line.
    pub(crate) has_line: bool,
}

impl FileLink {
    /// Writes what precedes the text of the link. Returns the number of bytes in both escape sequences.
    pub(crate) fn open(&self, line: Option<u64>, column: Option<u64>, out: &mut Vec<u8>) -> u64 {
        let before = out.len();
        out.extend_from_slice(b"\x1b]8;;");
        if self.has_line {
            let number = |number: Option<u64>| number.unwrap_or(1).to_string();
            let url = self.url.replace("{line}", number(line)).replace("{column}", number(column));
            out.extend_from_slice(&url);
        } else {
            out.extend_from_slice(&self.url);
        }
        out.extend_from_slice(b"\x1b\\");
        (out.len() - before + CLOSE.len()) as u64
    }

    /// Writes what follows the text of the link.
    pub(crate) fn close(out: &mut Vec<u8>) {
        out.extend_from_slice(CLOSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_to_the_absolute_path_without_bytes_that_no_url_contains() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("a b")).unwrap();
        std::fs::write(root.join("a b/{line}%é"), b"").unwrap();
        let open = |url: &str, path: &str, line| {
            let link = Hyperlink::new(&url.parse().unwrap(), Some("host"), None);
            let link = link.to_file(root.join(path).to_str().unwrap().as_bytes())?;
            let mut out = Vec::new();
            let escapes = link.open(line, Some(7), &mut out);
            assert_eq!(escapes, (out.len() + CLOSE.len()) as u64);
            Some(String::from_utf8(out).unwrap().replace(root.to_str().unwrap(), ""))
        };
        let path = "a b/../a b/{line}%é";
        let link = |url| Some(format!("\x1b]8;;{url}\x1b\\"));
        assert_eq!(open("file://{host}{path}", path, Some(3)), link("file://host/a%20b/%7Bline%7D%25é"));
        assert_eq!(open("x:{path}:{line}:{column}", path, Some(3)), link("x:/a%20b/%7Bline%7D%25é:3:7"));
        assert_eq!(open("x:{line}{wslprefix}{path}", "a b", None), link("x:1/a%20b"));
        assert_eq!(open("file://{path}", "missing", None), None);
    }
}
