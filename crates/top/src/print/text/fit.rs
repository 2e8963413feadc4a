//! Columns and keys that fit the width of a terminal.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter;

use finecomb_sys::display;
use memchr::memchr;

/// A cut text has at least this many columns, also if that makes the line too long.
pub(super) const MIN_CUT: usize = 12;

/// Mark of a part of a text that is left out.
const ELLIPSIS: &str = "…";

/// Maximum number of places where a group of texts is looked at for a difference. Texts that still look the same are cut less,
/// so that the time is linear.
const MAX_PLACES: usize = 8;

/// Text of a key on one line: its bytes, or on a terminal without control characters.
pub(super) fn shown(key: &[u8], is_terminal: bool) -> Cow<'_, [u8]> {
    if is_terminal {
        Cow::Owned(display::escaped_bytes(key).into_bytes())
    } else if memchr(b'\n', key).is_some() {
        Cow::Owned(key.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(&b"\\n"[..]))
    } else {
        Cow::Borrowed(key)
    }
}

/// The texts of keys on a terminal, in at most `width` columns if that is at least 12. Keys that are different look different.
pub fn fitted<'a>(keys: impl IntoIterator<Item = &'a [u8]>, width: usize) -> Vec<String> {
    let mut texts: Vec<_> = keys.into_iter().map(|key| shown(key, true)).collect();
    cut_all(&mut texts, width.max(MIN_CUT));
    texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

/// Width of a text on a terminal, with 1 for each invalid part.
pub(super) fn width(text: &[u8]) -> usize {
    text.utf8_chunks()
        .map(|chunk| display::width(chunk.valid()) + usize::from(!chunk.invalid().is_empty()))
        .sum()
}

/// The widths of columns, each given by its own and its least width, that have `available` together: the widest ones are narrowed to
/// the same width.
pub(super) fn narrowed(columns: &[(usize, usize)], available: usize) -> Vec<usize> {
    let of = |limit: usize| columns.iter().map(move |&(width, least)| width.min(limit.max(least)));
    let (mut limit, mut above) = (0, columns.iter().map(|(width, _)| width + 1).max().unwrap_or(1));
    while above - limit > 1 {
        let middle = limit.midpoint(above);
        if of(middle).sum::<usize>() <= available { limit = middle } else { above = middle }
    }
    of(limit).collect()
}

/// Cuts the texts that take more than `width` columns, each in the middle or where it differs from others, so that texts that are
/// different look different. Those that no cut of this width distinguishes are cut less, or left whole.
pub(crate) fn cut_all(texts: &mut [Cow<'_, [u8]>], width: usize) {
    if texts.iter().all(|text| self::width(text) <= width) {
        return;
    }
    let mut cuts: HashMap<Vec<u8>, String> = HashMap::new();
    let mut taken = BTreeSet::new();
    let mut long = BTreeSet::new();
    for text in texts.iter().filter_map(|text| str::from_utf8(text).ok()) {
        if display::width(text) > width {
            long.insert(text)
        } else {
            taken.insert(text.to_owned())
        };
    }
    let long: Vec<&str> = long.into_iter().collect();
    let mut groups = vec![(long, None, MAX_PLACES)];
    while let Some((group, place, places)) = groups.pop() {
        let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for &text in &group {
            alike.entry(cut(text, place, width)).or_default().push(text);
        }
        for (cut, texts) in alike {
            match &texts[..] {
                [text] if taken.insert(cut.clone()) => {
                    cuts.insert(text.as_bytes().to_vec(), cut);
                }
                [first, .., last] if places > 0 => {
                    let place = common_beginning(first, last);
                    groups.push((texts, Some(place), places - 1));
                }
                _ => cuts.extend(texts.into_iter().map(|text| {
                    let wider = wider(text, place, width, &mut taken);
                    (text.as_bytes().to_vec(), wider)
                })),
            }
        }
    }
    for text in texts {
        if let Some(cut) = cuts.get(&**text) {
            *text = Cow::Owned(cut.clone().into_bytes());
        }
    }
}

/// The narrowest of a few wider cuts of a text that looks like no other, or the whole text.
fn wider(text: &str, place: Option<usize>, width: usize, taken: &mut BTreeSet<String>) -> String {
    let widths = iter::successors(Some(width), |width| Some(2 * width)).skip(1);
    let mut cuts =
        widths.take_while(|&wider| wider < display::width(text)).map(|wider| cut(text, place, wider));
    cuts.find(|cut| taken.insert(cut.clone())).unwrap_or_else(|| text.to_owned())
}

/// Length of the whole characters that two texts begin with. All texts between the two in their order begin with these as well.
fn common_beginning(one: &str, other: &str) -> usize {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    same.map(|(char, _)| char.len_utf8()).sum()
}

/// A text in at most `width` columns: its beginning and end, and also the text around a place if there is one.
fn cut(text: &str, place: Option<usize>, width: usize) -> String {
    let rest = width.saturating_sub(1);
    let Some(place) = place else {
        let end = display::ending(text, rest / 2);
        let beginning = display::beginning(text, rest - rest / 2);
        return [beginning, ELLIPSIS, end].concat();
    };
    let third = rest.saturating_sub(1) / 3;
    let window = rest.saturating_sub(1) - 2 * third;
    let around = place - display::ending(&text[..place], window / 3).len();
    let around = around..around + display::beginning(&text[around..], window).len();
    let end = text.len() - display::ending(text, third).len();
    let parts = [0..display::beginning(text, third).len(), around, end..text.len()];
    let (mut cut, mut drawn) = (String::new(), 0);
    // The place may be near the end.
    for (index, part) in parts.iter().enumerate() {
        let start = parts[index..].iter().map(|part| part.start).min().unwrap_or(drawn);
        cut.push_str(if start > drawn { ELLIPSIS } else { "" });
        cut.push_str(text.get(start.max(drawn)..part.end).unwrap_or_default());
        drawn = drawn.max(part.end);
    }
    cut
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all_cut(texts: &[&str], width: usize) -> Vec<String> {
        let mut cells: Vec<Cow<'_, [u8]>> = texts.iter().map(|text| text.as_bytes().into()).collect();
        cut_all(&mut cells, width);
        cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
    }

    #[test]
    fn long_texts_are_cut_in_the_middle() {
        for (text, width, expected) in [
            ("abcdefghij", 10, "abcdefghij"),
            ("abcdefghij", 9, "abcd…ghij"),
            ("abcdefghij", 8, "abcd…hij"),
            ("日本語テキスト日本", 12, "日本語…日本"),
            ("e\u{301}abcdefghijklme\u{301}", 5, "e\u{301}a…me\u{301}"),
        ] {
            assert_eq!(all_cut(&[text], width), [expected], "{text}");
        }
    }

    #[test]
    fn texts_that_would_look_the_same_are_cut_where_they_differ() {
        let texts = [
            "/archive/of/reports/2026/march/summary.html",
            "/archive/of/reports/2026/april/summary.html",
            "/archive/of/reports/2026/april/summary.html",
            "/archive/of/reports/2025/april/summary.html",
        ];
        assert_eq!(
            all_cut(&texts, 20),
            ["/archi…026/ma…y.html", "/archi…026/ap…y.html", "/archi…026/ap…y.html", "/archi…025/ap…y.html"]
        );
        assert_eq!(all_cut(&["aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaa"], 12), ["aaa…aaa", "aaa…aaaaa"]);
    }

    #[test]
    fn texts_that_no_cut_of_the_width_distinguishes_are_cut_less() {
        let texts = ["/pa/number011/x", "/pa/number004/x", "/p1/number/x", "/p0/number/x"];
        assert_eq!(all_cut(&texts, 5), ["/p…011/x", "/p…004/x", "/…1…x", "/…0…x"]);
    }

    #[test]
    fn the_widest_columns_are_narrowed() {
        for (columns, available, expected) in [
            (&[(5, 12), (30, 12)][..], 40, &[5, 30][..]),
            (&[(5, 12), (90, 12)], 40, &[5, 35]),
            (&[(50, 12), (90, 12)], 40, &[20, 20]),
            (&[(50, 12), (90, 12)], 41, &[20, 20]),
            (&[(50, 12), (90, 12)], 10, &[12, 12]),
            (&[(8, 12), (50, 12), (90, 12)], 68, &[8, 30, 30]),
            (&[(50, 38), (90, 12)], 60, &[38, 22]),
            (&[], 68, &[]),
        ] {
            assert_eq!(narrowed(columns, available), expected, "{columns:?} {available}");
        }
    }

    proptest! {
        #[test]
        fn different_texts_look_different(
            texts in prop::collection::vec("[ab]{0,3}[ab日e\u{301}]{0,40}", 1..20),
            width in 5_usize..30,
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let cuts = all_cut(&texts, width);
            for (text, cut) in texts.iter().zip(&cuts) {
                prop_assert!(display::width(cut) <= display::width(text), "{:?} {:?}", text, cut);
                for (other, same) in texts.iter().zip(&cuts) {
                    prop_assert_eq!(text == other, cut == same);
                }
            }
        }
    }
}
