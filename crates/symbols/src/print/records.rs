//! A record for each definition or use.

use finecomb_scan::Output;

use super::{ListedFile, bytes};
use crate::records::{put_path, put_symbol};

pub(super) fn print(file: &ListedFile<'_>, out: &mut Output<'_>) {
    put_path(bytes(file.path), out.bytes());
    for symbol in file.symbols {
        put_symbol(file, symbol, out.bytes());
        // Each record repeats the names of its scopes, so the records of a file may be longer than its text.
        out.flush_if_full();
    }
}
