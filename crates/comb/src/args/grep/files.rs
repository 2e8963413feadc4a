//! Which files are searched.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use finecomb_scan::{RuleFiles, Sort, SortKey, WalkOptions};
use ignore::overrides::Override;
use ignore::types::{Types, TypesBuilder};
use regex_automata::meta::Regex;

use super::order::Order;
use super::value;
use crate::args::selection::{self, Globs, UsageError};

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "Which files")]
pub(crate) struct Files {
    /// Files to read or, with ! before the glob, to pass over; this comes before all other rules
    ///
    /// A glob is written as in a .gitignore file. If given more than once, the last one that matches counts.
    #[arg(short = 'g', long, value_name = "GLOB", allow_hyphen_values = true)]
    glob: Vec<String>,

    /// The same, without regard to upper and lower case
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true)]
    iglob: Vec<String>,

    /// Take the globs of -g as --iglob does
    #[arg(long, hide_short_help = true)]
    glob_case_insensitive: bool,

    /// Read only files of this type; --type-list shows them all
    #[arg(short = 't', long = "type", id = "type", value_name = "TYPE")]
    types: Vec<String>,

    /// Pass over files of this type
    #[arg(short = 'T', long, value_name = "TYPE")]
    type_not: Vec<String>,

    /// Add a glob to a type: 'web:*.html', or the globs of other types: 'web:include:html,css'
    #[arg(long, value_name = "TYPE:GLOB", hide_short_help = true)]
    type_add: Vec<String>,

    /// Take all globs from a type
    #[arg(long, value_name = "TYPE", allow_hyphen_values = true, hide_short_help = true)]
    type_clear: Vec<String>,

    /// Read only files whose path matches
    #[arg(short = 'G', long, value_name = "REGEX", allow_hyphen_values = true, value_parser = value::path_regex)]
    file_search_regex: Option<Regex>,

    /// Read also files and directories whose names begin with a dot
    #[arg(short = '.', long)]
    hidden: bool,

    /// Read more: -u is --no-ignore, -uu is also --hidden, -uuu also --binary
    #[arg(short = 'u', long, num_args = 0, default_missing_value = "true")]
    unrestricted: Vec<bool>,

    /// Do not obey .ignore, .gitignore and the like
    ///
    /// Files that --ignore-file names are still obeyed; --no-ignore-files is for these. Each kind can be obeyed
    /// again with a later --ignore-dot, --ignore-exclude, --ignore-global, --ignore-parent or --ignore-vcs.
    #[arg(long, alias = "all-text")]
    no_ignore: bool,

    /// --no-ignore and --binary.
    #[arg(long, hide = true)]
    all_types: bool,

    /// Do not obey .ignore, .rgignore and .agignore
    #[arg(long, hide_short_help = true)]
    no_ignore_dot: bool,

    /// Do not obey .git/info/exclude
    #[arg(long, hide_short_help = true)]
    no_ignore_exclude: bool,

    /// Do not obey the files that --ignore-file names
    #[arg(long, hide_short_help = true)]
    no_ignore_files: bool,

    /// Do not obey the file that git's core.excludesFile names
    #[arg(long, hide_short_help = true)]
    no_ignore_global: bool,

    /// Do not obey such files in the directories above
    #[arg(long, hide_short_help = true)]
    no_ignore_parent: bool,

    /// Do not obey those of git
    #[arg(long, alias = "skip-vcs-ignores")]
    no_ignore_vcs: bool,

    /// Obey .gitignore also outside of a repository
    #[arg(long, hide_short_help = true)]
    no_require_git: bool,

    /// A file with more such rules; may be given more than once
    #[arg(long, alias = "path-to-ignore", value_name = "FILE", allow_hyphen_values = true)]
    ignore_file: Vec<PathBuf>,

    /// Read such rules without regard to upper and lower case
    #[arg(long, hide_short_help = true)]
    ignore_file_case_insensitive: bool,

    /// Pass over what has this name, or matches this glob; the same as -g '!GLOB', and as --ignore=GLOB
    #[arg(long, value_name = "GLOB", allow_hyphen_values = true, hide_short_help = true)]
    ignore_dir: Vec<String>,

    /// Without a value, the end of --no-ignore; with one, --ignore-dir.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "", hide = true)]
    ignore: Vec<String>,

    /// Follow symbolic links (files without a match are for --files-without-match)
    #[arg(short = 'L', long)]
    follow: bool,

    /// How many levels to go down: 0 for named files only, 1 for the files in a named directory
    #[arg(short = 'd', long, alias = "maxdepth", value_name = "LEVELS", value_parser = value::count, allow_hyphen_values = true, overrides_with = "depth")]
    max_depth: Option<usize>,

    /// The same as in ag: 0 for the files in a named directory, and -1 for no limit.
    #[arg(long, value_name = "LEVELS", value_parser = value::depth, allow_hyphen_values = true, hide = true)]
    depth: Option<value::Depth>,

    /// Pass over files that are larger
    #[arg(long, value_name = "SIZE", value_parser = value::bytes, allow_hyphen_values = true)]
    max_filesize: Option<usize>,

    /// Stay on the file system of each named directory
    #[arg(long, alias = "one-device")]
    one_file_system: bool,

    /// In which order files are read and printed [default: path]
    #[arg(long, value_enum, value_name = "KEY", overrides_with_all = ["sortr", "sort_files"])]
    sort: Option<Key>,

    /// The same, the other way round
    #[arg(long, value_enum, value_name = "KEY", overrides_with = "sort_files", hide_possible_values = true)]
    sortr: Option<Key>,

    /// The same as --sort=path
    #[arg(long, hide = true)]
    sort_files: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Key {
    /// By path
    Path,
    /// By the time of the last change
    Modified,
    /// By the time of the last read
    Accessed,
    /// By the time of creation
    Created,
    /// By size
    Size,
    /// As if there were no such flag
    None,
}

impl Files {
    /// Which files below a directory are read.
    pub(super) fn options(&self, order: &Order) -> Result<WalkOptions, UsageError> {
        if self.unrestricted.len() > 3 {
            return Err(UsageError("-u may be given three times at most; -uuu reads everything".to_owned()));
        }
        let obeys = !self.no_ignore_files;
        Ok(WalkOptions {
            skip_hidden: !self.reads_hidden(order),
            rules: self.rules(order),
            rule_files: if obeys { self.ignore_file.clone() } else { Vec::new() },
            rules_ignore_case: self.ignore_file_case_insensitive,
            globs: self.globs()?,
            types: if self.has_types() { self.types(order)? } else { Types::empty() },
            file_regex: self.file_search_regex.clone(),
            follow: self.follow,
            one_file_system: self.one_file_system,
            max_depth: self.depth.map_or(self.max_depth, |depth| depth.0),
            max_filesize: self.max_filesize.map(|bytes| bytes as u64),
            sort: self.sort(),
        })
    }

    /// -uu counts as --hidden at the place of its second u.
    fn reads_hidden(&self, order: &Order) -> bool {
        self.hidden || order.nth("unrestricted", 1) > order.last("no-hidden")
    }

    /// The first glob of -g.
    pub(super) fn first_glob(&self) -> Option<&str> {
        self.glob.first().map(String::as_str)
    }

    /// Each kind of rules is obeyed unless the last flag about it says otherwise.
    fn rules(&self, order: &Order) -> RuleFiles {
        let switches = order.merge(&[("ignore", &self.ignore)]);
        let ignore = switches.iter().rposition(|(_, glob)| glob.is_empty());
        let ignore = ignore.and_then(|nth| order.nth("ignore", nth));
        let no_ignore =
            order.last("no_ignore").max(order.last("all_types")).max(order.nth("unrestricted", 0));
        let obeys = |no: &str, yes: &str| ignore.max(order.last(yes)) >= no_ignore.max(order.last(no));
        let git = obeys("no_ignore_vcs", "ignore-vcs");
        RuleFiles {
            dot: obeys("no_ignore_dot", "ignore-dot"),
            git,
            git_exclude: git && obeys("no_ignore_exclude", "ignore-exclude"),
            git_global: git && obeys("no_ignore_global", "ignore-global"),
            parents: obeys("no_ignore_parent", "ignore-parent"),
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

    /// Without a flag about types, the work of learning all that there are can be spared.
    fn has_types(&self) -> bool {
        [&self.types, &self.type_not, &self.type_add, &self.type_clear].iter().any(|given| !given.is_empty())
    }

    /// All types of files that there are, and which of them are chosen.
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
            "--type-add '{definition}': write NAME:GLOB, or NAME:include:TYPES with types that there are; \
             a name has letters and digits only"
        ))
    })
}

/// Whether files can be chosen by a type of this name.
pub(super) fn is_type(name: &str) -> bool {
    let mut builder = TypesBuilder::new();
    builder.add_defaults().select(name);
    builder.build().is_ok()
}
