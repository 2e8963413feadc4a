//! File selection.

use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use finecomb_scan::{RuleFiles, Sort, SortKey, WalkOptions};
use finecomb_top::{Bound, Zone};
use ignore::overrides::Override;
use ignore::types::{Types, TypesBuilder};
use regex_automata::meta::Regex;

use crate::args::selection;
use crate::args::selection::{Globs, UsageError, nanoseconds_now};
use crate::grep::args::order::{Off, Order};
use crate::grep::args::value;
use crate::shell::candidates;
use crate::shell::line::completer;

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "File selection")]
pub(crate) struct Files {
    /// Search only files that match GLOB, or skip them if GLOB begins with !; repeatable
    ///
    /// Globs have the syntax of .gitignore, and take precedence over all other rules. If several match a file, the last one takes
    /// precedence.
    #[arg(short = 'g', long, value_name = "GLOB", allow_hyphen_values = true)]
    glob: Vec<String>,

    /// Like --glob, but ignore case
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    iglob: Vec<String>,

    /// Ignore case in all globs of -g/--glob
    #[arg(long, hide_short_help = true, add = Off(&["no-glob-case-insensitive"]))]
    glob_case_insensitive: bool,

    /// Search only files of this type; repeatable; --type-list lists all types
    #[arg(short = 't', long = "type", id = "type", value_name = "TYPE", add = completer(candidates::types))]
    types: Vec<String>,

    /// Skip files of this type; repeatable
    #[arg(short = 'T', long, value_name = "TYPE", add = completer(candidates::types))]
    type_not: Vec<String>,

    /// Add a glob to a type, as in 'web:*.html', or the globs of other types, as in 'web:include:html,css'
    #[arg(long, value_name = "TYPE:GLOB", hide_short_help = true)]
    type_add: Vec<String>,

    /// Remove all globs from a type
    #[arg(long, value_name = "TYPE", allow_hyphen_values = true, add = completer(candidates::types), hide_short_help = true)]
    type_clear: Vec<String>,

    /// Search only files whose path matches REGEX
    #[arg(short = 'G', long, value_name = "REGEX", allow_hyphen_values = true, value_parser = selection::path_regex)]
    file_search_regex: Option<Regex>,

    /// Search hidden files and directories
    #[arg(short = '.', long, add = Off(&["no-hidden"]))]
    hidden: bool,

    /// Skip fewer files: -u implies --no-ignore, -uu also --hidden, -uuu also --binary
    #[arg(short = 'u', long, num_args = 0, default_missing_value = "true")]
    unrestricted: Vec<bool>,

    /// Do not respect .ignore, .gitignore and similar files
    ///
    /// Files given by --ignore-file are still respected, unless --no-ignore-files is given. A later --ignore-dot,
    /// --ignore-exclude, --ignore-global, --ignore-parent or --ignore-vcs restores one kind of rules.
    #[arg(long, alias = "all-text")]
    no_ignore: bool,

    /// `--no-ignore` and `--binary`.
    #[arg(long, hide = true)]
    all_types: bool,

    /// Do not respect .ignore, .rgignore and .agignore
    #[arg(long, hide_short_help = true, add = Off(&["ignore-dot"]))]
    no_ignore_dot: bool,

    /// Do not respect .git/info/exclude
    #[arg(long, hide_short_help = true, add = Off(&["ignore-exclude"]))]
    no_ignore_exclude: bool,

    /// Do not respect files given by --ignore-file
    #[arg(long, hide_short_help = true, add = Off(&["ignore-files"]))]
    no_ignore_files: bool,

    /// Do not respect the file named by git's core.excludesFile
    #[arg(long, hide_short_help = true, add = Off(&["ignore-global"]))]
    no_ignore_global: bool,

    /// Do not respect ignore files in parent directories
    #[arg(long, hide_short_help = true, add = Off(&["ignore-parent"]))]
    no_ignore_parent: bool,

    /// Do not respect ignore files of git
    #[arg(long, alias = "skip-vcs-ignores", add = Off(&["ignore-vcs"]))]
    no_ignore_vcs: bool,

    /// Respect .gitignore outside of repositories, too
    #[arg(long, hide_short_help = true, add = Off(&["require-git"]))]
    no_require_git: bool,

    /// File with additional ignore rules; repeatable
    #[arg(long, alias = "path-to-ignore", value_name = "FILE", allow_hyphen_values = true)]
    ignore_file: Vec<PathBuf>,

    /// Ignore case in ignore files
    #[arg(long, hide_short_help = true, add = Off(&["no-ignore-file-case-insensitive"]))]
    ignore_file_case_insensitive: bool,

    /// Skip files and directories that match GLOB; same as -g '!GLOB' and --ignore=GLOB
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true, hide_short_help = true)]
    ignore_dir: Vec<String>,

    /// Without a value, undoes `--no-ignore`; with a value, same as `--ignore-dir`.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "", hide = true)]
    ignore: Vec<String>,

    /// Follow symbolic links (-L is not short for --files-without-match)
    #[arg(short = 'L', long, add = Off(&["no-follow", "nofollow"]))]
    follow: bool,

    /// Maximum depth: 0 searches named files only, 1 also the files directly in a named directory
    #[arg(short = 'd', long, alias = "maxdepth", value_name = "LEVELS", value_parser = value::count, allow_hyphen_values = true, overrides_with = "depth")]
    max_depth: Option<usize>,

    /// Maximum depth as counted by ag: 0 for the files directly in a named directory, and -1 for no limit.
    #[arg(long, value_name = "LEVELS", value_parser = value::depth, allow_hyphen_values = true, hide = true)]
    depth: Option<value::Depth>,

    /// Skip files larger than SIZE
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, allow_hyphen_values = true)]
    max_filesize: Option<usize>,

    /// Search only files that were modified after TIME: 2d or 90min (ago), 2026-03-01, '2026-03-01 06:20', yesterday
    #[arg(long, aliases = ["change-newer-than", "newer", "changed-after"], value_name = "TIME", hide_short_help = true)]
    changed_within: Option<String>,

    /// Search only files that were modified before TIME
    #[arg(long, aliases = ["change-older-than", "older"], value_name = "TIME", hide_short_help = true)]
    changed_before: Option<String>,

    /// Search the members of archives, as ARCHIVE!PATH: zip, and tar, also compressed
    ///
    /// Archives are recognised by their first bytes, and only one level deep. Globs, types and the filter of hidden files apply to members as to files below a directory.
    /// Encrypted and damaged members are reported. Members that are compressed themselves need -z.
    ///
    /// Example: comb grep --archives -t rust 'fn main' backups
    #[arg(long)]
    pub(super) archives: bool,

    /// Do not cross file system boundaries
    #[arg(long, alias = "one-device", add = Off(&["no-one-file-system"]))]
    one_file_system: bool,

    /// Sort files by KEY [default: path]
    #[arg(long, value_enum, value_name = "KEY", overrides_with_all = ["sortr", "sort_files"], add = Off(&["no-sort-files"]))]
    sort: Option<Key>,

    /// Sort files by KEY in reverse order
    #[arg(long, value_enum, value_name = "KEY", overrides_with = "sort_files", hide_possible_values = true, add = Off(&["no-sort-files"]))]
    sortr: Option<Key>,

    /// Same as `--sort=path`.
    #[arg(long, hide = true, add = Off(&["no-sort-files"]))]
    sort_files: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Key {
    /// Path
    Path,
    /// Time of last modification
    Modified,
    /// Time of last access
    Accessed,
    /// Time of creation
    Created,
    /// Size
    Size,
    /// Default order
    None,
}

impl Files {
    /// Options for walking directories.
    pub(super) fn options(&self, order: &Order) -> Result<WalkOptions, UsageError> {
        if self.unrestricted.len() > 3 {
            return Err(UsageError(
                "-u can be repeated at most three times; -uuu searches all files".to_owned(),
            ));
        }
        let respects_files = !self.no_ignore_files;
        Ok(WalkOptions::default()
            .skip_hidden(!self.reads_hidden(order))
            .rules(self.rules(order))
            .rule_files(if respects_files { self.ignore_file.clone() } else { Vec::new() })
            .rules_ignore_case(self.ignore_file_case_insensitive)
            .globs(self.globs()?)
            .types(if self.has_types() { self.types(order)? } else { Types::empty() })
            .file_regex(self.file_search_regex.clone())
            .follow(self.follow)
            .one_file_system(self.one_file_system)
            .max_depth(self.depth.map_or(self.max_depth, |depth| depth.0))
            .max_filesize(self.max_filesize.map(|bytes| bytes as u64))
            .modified(self.modified()?)
            .archives(self.archives)
            .sort(self.sort()))
    }

    /// The range of times of modification of the files.
    fn modified(&self) -> Result<Option<Range<i64>>, UsageError> {
        if self.changed_within.is_none() && self.changed_before.is_none() {
            return Ok(None);
        }
        let now = nanoseconds_now();
        let bound = |flag: &str, text: &Option<String>| {
            let parsed = text.as_deref().map(|text| Bound::parse(text, &Zone::system(), now)).transpose();
            let bound = parsed.map_err(|error| UsageError(format!("{flag}: {error}")))?;
            Ok(bound.map(Bound::nanoseconds))
        };
        let after = bound("--changed-within", &self.changed_within)?;
        let before = bound("--changed-before", &self.changed_before)?;
        Ok(Some(after.unwrap_or(i64::MIN)..before.unwrap_or(i64::MAX)))
    }

    /// `-uu` counts as `--hidden` at the position of its second u.
    fn reads_hidden(&self, order: &Order) -> bool {
        self.hidden || order.nth("unrestricted", 1) > order.last("no-hidden")
    }

    /// The first glob of `-g`.
    pub(super) fn first_glob(&self) -> Option<&str> {
        self.glob.first().map(String::as_str)
    }

    /// Kinds of ignore rules to respect; for each kind, the last flag takes precedence.
    fn rules(&self, order: &Order) -> RuleFiles {
        let switches = order.merge(&[("ignore", &self.ignore)]);
        let ignore = switches.iter().rposition(|(_, glob)| glob.is_empty());
        let ignore = ignore.and_then(|nth| order.nth("ignore", nth));
        let no_ignore =
            order.last("no_ignore").max(order.last("all_types")).max(order.nth("unrestricted", 0));
        let respects = |no: &str, yes: &str| ignore.max(order.last(yes)) >= no_ignore.max(order.last(no));
        let git = respects("no_ignore_vcs", "ignore-vcs");
        RuleFiles {
            dot: respects("no_ignore_dot", "ignore-dot"),
            git,
            git_exclude: git && respects("no_ignore_exclude", "ignore-exclude"),
            git_global: git && respects("no_ignore_global", "ignore-global"),
            parents: respects("no_ignore_parent", "ignore-parent"),
            require_git: !self.no_require_git,
        }
    }

    fn globs(&self) -> Result<Override, UsageError> {
        let ignored = self.ignore_dir.iter().chain(&self.ignore).filter(|glob| !glob.is_empty());
        let ignored: Vec<String> = ignored.map(|glob| format!("!{glob}")).collect();
        selection::globs(&[
            Globs { flag: "--glob", globs: &self.glob, ignore_case: self.glob_case_insensitive },
            Globs { flag: "--iglob", globs: &self.iglob, ignore_case: true },
            Globs { flag: "--ignore-dir", globs: &ignored, ignore_case: false },
        ])
    }

    /// Whether any flag is about types; if not, the table of all types need not be built.
    fn has_types(&self) -> bool {
        [&self.types, &self.type_not, &self.type_add, &self.type_clear].iter().any(|given| !given.is_empty())
    }

    /// All known file types, and the selection among them.
    pub(super) fn types(&self, order: &Order) -> Result<Types, UsageError> {
        let mut builder = TypesBuilder::new();
        let flags: [(&str, &[String]); 4] = [
            ("type", &self.types),
            ("type_not", &self.type_not),
            ("type_add", &self.type_add),
            ("type_clear", &self.type_clear),
        ];
        builder.add_defaults();
        for (flag, value) in order.merge(&flags) {
            match flag {
                "type" => drop(builder.select(value)),
                "type_not" => drop(builder.negate(value)),
                "type_clear" => drop(builder.clear(value)),
                _ => add_type(&mut builder, value)?,
            }
        }
        selection::types(&builder)
    }

    fn sort(&self) -> Sort {
        let (key, reverse) = (self.sort.or(self.sortr), self.sortr.is_some());
        let by = match key {
            Some(Key::Path) | None => SortKey::Path,
            Some(Key::Modified) => SortKey::Modified,
            Some(Key::Accessed) => SortKey::Accessed,
            Some(Key::Created) => SortKey::Created,
            Some(Key::Size) => SortKey::Size,
            Some(Key::None) => return Sort::default(),
        };
        Sort { by, reverse }
    }
}

fn add_type(builder: &mut TypesBuilder, definition: &str) -> Result<(), UsageError> {
    builder.add_def(definition).map_err(|_| {
        UsageError(format!(
            "--type-add '{definition}': expected NAME:GLOB, or NAME:include:TYPES with existing types; \
             a NAME consists of letters and digits"
        ))
    })
}

/// Whether there is a file type of this name.
pub(super) fn is_type(name: &str) -> bool {
    let mut builder = TypesBuilder::new();
    builder.add_defaults().select(name);
    builder.build().is_ok()
}
