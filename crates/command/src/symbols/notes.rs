//! Notes on a list of definitions that may be incomplete.

use finecomb_symbols::SyntaxError;
use finecomb_sys::units::counted;

/// Maximum number of files that a note names.
const MAX_FILES: usize = 10;

/// Notes on files with syntax errors: one for each of the first files, and one that counts the others.
pub(crate) fn on_syntax_errors(errors: &[SyntaxError]) -> Vec<String> {
    let named = errors.iter().take(MAX_FILES);
    let mut notes: Vec<String> = named
        .map(|SyntaxError { path, line }| format!("{path}:{line}: syntax error; definitions may be missing"))
        .collect();
    let more = errors.len().saturating_sub(MAX_FILES) as u64;
    if more > 0 {
        notes.push(format!("syntax errors in {}; definitions may be missing", counted(more, "more file")));
    }
    notes
}
