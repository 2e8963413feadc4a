//! The flags of ag, and the flags of `comb grep` that they become.

use Becomes::{Flags, Lines, Missing, Set, SetValue, Value};

use super::{Case, HELP, Translation, color, types};
use crate::version;

/// A flag of ag.
pub(super) struct Flag {
    pub(super) long: &'static str,
    pub(super) short: Option<char>,
    pub(super) becomes: Becomes,
}

/// Translation of a flag.
pub(super) enum Becomes {
    /// These flags, without values.
    Flags(&'static [&'static str]),
    /// This flag with the value of ag's.
    Value(&'static str),
    /// This flag with a number of lines: the rest of the argument, or the next one if that is a number, or else 2.
    Lines(&'static str),
    /// An error, as comb has no such flag: names the alternative.
    Missing(&'static str),
    /// Something that depends on other arguments.
    Set(fn(&mut Translation)),
    /// Something that depends on other arguments, and on a value.
    SetValue(fn(&mut Translation, &str) -> Result<(), String>),
}

const fn flag(long: &'static str, short: char, becomes: Becomes) -> Flag {
    Flag { long, short: Some(short), becomes }
}

const fn long(long: &'static str, becomes: Becomes) -> Flag {
    Flag { long, short: None, becomes }
}

/// All flags of ag 2.2 but those for file types.
pub(super) const FLAGS: &[Flag] = &[
    long("ackmate", Set(|all| all.ackmate = true)),
    long("affinity", Flags(&[])),
    long("noaffinity", Flags(&[])),
    flag("after", 'A', Lines("--after-context")),
    flag("all-types", 'a', Flags(&["--no-ignore", "--binary"])),
    flag("all-text", 't', Flags(&["--no-ignore"])),
    flag("before", 'B', Lines("--before-context")),
    long("break", Flags(&[])),
    long("nobreak", Flags(&[])),
    flag("case-sensitive", 's', Set(|all| all.case = Case::Sensitive)),
    long("color", Flags(&["--color=always"])),
    long("nocolor", Flags(&["--color=never"])),
    long(
        "color-line-number",
        SetValue(|all, codes| color("line", codes).map(|specs| all.colors.extend(specs))),
    ),
    long("color-match", SetValue(|all, codes| color("match", codes).map(|specs| all.colors.extend(specs)))),
    long("color-path", SetValue(|all, codes| color("path", codes).map(|specs| all.colors.extend(specs)))),
    long("column", Flags(&["--column"])),
    flag("context", 'C', Lines("--context")),
    flag("count", 'c', Flags(&["--count-matches"])),
    flag("debug", 'D', Flags(&["--debug"])),
    long("depth", Value("--depth")),
    long("filename", Flags(&["--with-filename"])),
    long("nofilename", Flags(&["--no-filename"])),
    flag(
        "filename-pattern",
        'g',
        SetValue(|all, regex| {
            all.filename_pattern = Some(regex.to_owned());
            Ok(())
        }),
    ),
    flag(
        "file-search-regex",
        'G',
        SetValue(|all, regex| {
            all.file_search_regex = Some(regex.to_owned());
            Ok(())
        }),
    ),
    flag("files-with-matches", 'l', Set(|all| all.lists_matching = true)),
    flag("files-without-matches", 'L', Flags(&["--files-without-match"])),
    flag("fixed-strings", 'F', Set(|all| all.literal = true)),
    flag("follow", 'f', Flags(&["--follow"])),
    long("nofollow", Flags(&["--no-follow"])),
    long("group", Flags(&["--heading"])),
    long("nogroup", Flags(&["--no-heading"])),
    flag("heading", 'H', Flags(&["--heading", "--with-filename"])),
    long("noheading", Flags(&["--no-heading", "--with-filename"])),
    flag("help", 'h', Set(|all| all.text = Some(HELP.to_owned()))),
    long("hidden", Set(|all| all.hidden = true)),
    long("ignore", Value("--ignore-dir")),
    flag("ignore-case", 'i', Set(|all| all.case = Case::Ignored)),
    long("ignore-dir", Value("--ignore-dir")),
    long("invert-match", Flags(&["--invert-match"])),
    flag("invert", 'v', Flags(&["--invert-match"])),
    long("list-file-types", Set(|all| all.text = Some(types::list()))),
    flag("literal", 'Q', Set(|all| all.literal = true)),
    flag("max-count", 'm', SetValue(Translation::set_max_count)),
    long("mmap", Flags(&[])),
    long("nommap", Flags(&[])),
    long("multiline", Set(|all| all.single_lines = false)),
    long("nomultiline", Set(|all| all.single_lines = true)),
    flag("norecurse", 'n', Set(|all| all.no_recurse = true)),
    flag("null", '0', Flags(&["--null"])),
    long("numbers", Set(|all| all.line_numbers = Some(true))),
    long("nonumbers", Set(|all| all.line_numbers = Some(false))),
    long("one-device", Flags(&["--one-file-system"])),
    flag("only-matching", 'o', Flags(&["--only-matching"])),
    long("pager", Value("--pager")),
    long("nopager", Flags(&["--nopager"])),
    long("parallel", Set(Translation::set_parallel)),
    long("passthrough", Set(|all| all.passthru = true)),
    long("passthru", Set(|all| all.passthru = true)),
    flag("path-to-ignore", 'p', Value("--ignore-file")),
    long("print-all-files", Missing("ag -l '' prints all files")),
    long("print-long-lines", Flags(&["--max-columns=0"])),
    long("print0", Flags(&["--null"])),
    flag("recurse", 'r', Flags(&[])),
    flag("recursive", 'R', Flags(&[])),
    long("search-binary", Flags(&["--binary"])),
    flag("search-zip", 'z', Flags(&["--search-zip"])),
    long("silent", Flags(&["--no-messages"])),
    flag("skip-vcs-ignores", 'U', Flags(&["--no-ignore-vcs"])),
    flag("smart-case", 'S', Set(|all| all.case = Case::Smart)),
    long("stats", Flags(&["--stats"])),
    long("stats-only", Flags(&["--stats-only"])),
    flag("unrestricted", 'u', Set(Translation::set_unrestricted)),
    flag("version", 'V', Set(|all| all.text = Some(version::of_ag()))),
    long("vimgrep", Flags(&["--vimgrep"])),
    flag("width", 'W', SetValue(Translation::set_width)),
    flag("word-regexp", 'w', Set(|all| all.words = true)),
    long("workers", Value("--threads")),
];

/// The flag of a long name, or of an unambiguous beginning of one.
pub(super) fn by_long(name: &str) -> Option<&'static Flag> {
    let exact = FLAGS.iter().find(|flag| flag.long == name);
    exact.or_else(|| {
        let mut begun = FLAGS.iter().filter(|flag| flag.long.starts_with(name));
        begun.next().filter(|_| begun.next().is_none())
    })
}

/// The flag of a letter.
pub(super) fn by_short(letter: char) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.short == Some(letter))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{FLAGS, by_long};

    #[test]
    fn names_are_unique() {
        let (mut long, mut short) = (HashSet::new(), HashSet::new());
        for flag in FLAGS {
            assert!(long.insert(flag.long), "--{}", flag.long);
            assert!(flag.short.is_none_or(|letter| short.insert(letter)), "{:?}", flag.short);
        }
    }

    #[test]
    fn a_long_name_may_be_abbreviated() {
        assert_eq!(by_long("files-with-").map(|flag| flag.long), Some("files-with-matches"));
        assert_eq!(by_long("color").map(|flag| flag.long), Some("color"));
        assert!(by_long("no").is_none());
        assert!(by_long("xyz").is_none());
    }
}
