//! Finds keys that come again in the same object.

use std::collections::BTreeSet;

use super::all::{MemberVisitor, visit};
use crate::cells::{Cell, Cells, Span, Violation};

/// The paths of the keys of a record that an object has more than once, sorted.
pub(crate) fn repeated_keys(text: &[u8], record: Span) -> Vec<String> {
    let mut search = RepeatedKeys::default();
    visit(text, &[record], &mut search);
    search.found.into_iter().collect()
}

#[derive(Default)]
struct RepeatedKeys {
    cells: Cells,
    /// The last key of each object around the place.
    path: Vec<String>,
    /// The keys that each of these objects has so far.
    known: Vec<BTreeSet<String>>,
    found: BTreeSet<String>,
}

impl MemberVisitor for RepeatedKeys {
    fn cells(&mut self) -> &mut Cells {
        &mut self.cells
    }

    fn begin(&mut self) {
        self.enter();
    }

    fn key(&mut self, key: &[u8]) -> bool {
        let key = String::from_utf8_lossy(key).into_owned();
        self.path.truncate(self.known.len() - 1);
        self.path.push(key.clone());
        let is_new = self.known.last_mut().is_some_and(|known| known.insert(key));
        if !is_new {
            self.found.insert(self.path.join("."));
        }
        is_new
    }

    fn enter(&mut self) {
        self.known.push(BTreeSet::new());
    }

    fn leave(&mut self) {
        self.known.pop();
    }

    fn value(&mut self, _: Cell) {}

    fn end(&mut self, _: Result<(), Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_object_are_compared() {
        for (record, expected) in [
            (r#"{"a":1,"b":{"a":2},"c":[{"a":1},{"a":2}]}"#, ""),
            (r#"{"a":1,"b":2,"a":3,"a":4}"#, "a"),
            (r#"{"z":1,"b":{"c":{"d":1,"\u0064":2}},"z":{"y":1,"y":2}}"#, "b.c.d z"),
            (r#"{"a":1,"a":"#, "a"),
            ("", ""),
        ] {
            assert_eq!(repeated_keys(record.as_bytes(), (0, record.len())).join(" "), expected, "{record}");
        }
    }
}
