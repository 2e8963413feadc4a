//! Components of Vue: the parser sees only the scripts in the HTML.

use memchr::memchr;
use memchr::memmem::find;

use super::Split;

/// Leaves out what is in no script.
pub(crate) fn split(source: &[u8]) -> Split {
    let mut split = Split::new(source);
    let (mut kept, mut at) = (0, 0);
    while let Some(found) = memchr(b'<', &source[at..]) {
        let tag = at + found;
        let rest = &source[tag..];
        if rest.starts_with(b"<!--") {
            at = find(rest, b"-->").map_or(source.len(), |end| tag + end);
        } else if is_script(rest) {
            let begin = tag + memchr(b'>', rest).map_or(rest.len(), |end| end + 1);
            let end = begin + find(&source[begin..], b"</script").unwrap_or(source.len() - begin);
            split.leave_out(kept..begin);
            (kept, at) = (end, end);
        } else {
            at = tag + 1;
        }
    }
    split.leave_out(kept..source.len());
    split
}

/// Returns `true` for a tag such as `<script setup lang="ts">`.
fn is_script(tag: &[u8]) -> bool {
    let name = tag.strip_prefix(b"<script");
    name.and_then(<[u8]>::first).is_some_and(|&byte| byte == b'>' || byte.is_ascii_whitespace())
}
