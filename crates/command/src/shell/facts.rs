//! Facts about commands that their help has no room for, for their manual pages. The definition of a command names its own.
//!
//! In texts of several lines, each has a name, two blanks, and what it stands for.

use clap::builder::CommandExt;

/// Facts about a command.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// Exit statuses, if the help does not list them.
    pub(super) exit_status: &'static str,
    /// Environment variables that the command reads, other than those of colours.
    pub(super) environment: &'static [&'static str],
    /// Files that the command reads or writes without being told to.
    pub(super) files: &'static [&'static str],
    /// Names of other pages worth reading.
    pub(super) related: &'static str,
}

impl CommandExt for Facts {}

const fn facts(
    environment: &'static [&'static str],
    files: &'static [&'static str],
    related: &'static str,
) -> Facts {
    Facts { exit_status: "0  success\n2  an error occurred", environment, files, related }
}

/// Variables that decide on colour if `--color` does not.
pub(super) const COLOR: &str = "\
NO_COLOR  If not empty, no colour, unless --color asks for it.
CLICOLOR_FORCE  If not empty and not 0, colour in files and pipes as well.
CLICOLOR  If 0, no colour.
TERM  If dumb, no colour.";

/// Where indexes of directories are.
const INDEX_HOME: &str = "\
COMB_INDEX_DIR  Default of --index-dir: the directory of the indexes of directories.
XDG_CACHE_HOME, HOME  Without COMB_INDEX_DIR, indexes are in $XDG_CACHE_HOME/finecomb or ~/.cache/finecomb.";

/// Where searches and a watch meet.
const WATCH: &str = "XDG_RUNTIME_DIR  Directory of the sockets of 'comb index watch'; without it, they are beside the indexes.";

/// Whether searches use an index.
const INDEX_USE: &str = "COMB_INDEX  Default of --index: auto, never or require.";

/// Where git has its rules for all repositories.
const GIT: &str = "\
GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM, XDG_CONFIG_HOME, HOME  Where git's configuration is, which names core.excludesFile; by default that is \
~/.config/git/ignore.";

const ZONE: &str = "TZ  The local time zone, in which times without a zone are read.";

/// Files with rules that exclude others.
const RULES: &str = "\
.gitignore, .git/info/exclude  In the directories searched and those above them: rules of git, which hold within repositories.
.ignore, .rgignore, .agignore  Rules of search programs, in the same directories, which hold everywhere.
core.excludesFile  The file that git's configuration names: rules for all repositories.";

const INDEXES: &str =
    "~/.cache/finecomb  Indexes of directories, by default. Only their owner may read them.";

const INDEX_FILE: &str = "*.comb  Index of a text, as 'comb index build' writes it.";

pub(crate) const COMB: Facts = Facts {
    exit_status: "\
0  success; for a search, something was found
1  nothing was found
2  an error occurred, even if the rest of the input was processed
130  interrupted",
    ..facts(
        &[
            "COMB_CONFIG  File of arguments for 'comb grep'.",
            INDEX_USE,
            INDEX_HOME,
            "COLUMNS  Width of help texts where there is no terminal.",
            "COMPLETE  Name of a shell that asks for completions; the scripts of 'comb completions' set it.",
        ],
        &[INDEXES],
        "",
    )
};

pub(crate) const TOP: Facts = facts(
    &[ZONE, "TMPDIR  Directory of the temporary files of --memory [default: /tmp].", GIT],
    &[
        "/usr/share/zoneinfo  Time zones, for --tz and the local zone; without it, those in the program.",
        RULES,
        "--ignore  Only with this flag, rules are read.",
    ],
    "comb-grep comb-bench-scale",
);

pub(crate) const GREP: Facts = facts(
    &[
        "COMB_CONFIG  File with arguments that come before those of the command line; --no-config ignores it.",
        INDEX_USE,
        INDEX_HOME,
        WATCH,
        GIT,
        ZONE,
        "WSL_DISTRO_NAME  Name of the distribution in the links of --hyperlink-format on Windows.",
        "PATH  Where the programs of --pre, --pager and --hostname-bin are.",
    ],
    &[RULES, INDEXES],
    "comb-grep comb-index-build comb-index-watch comb-symbols comb-find comb-links",
);

#[cfg(feature = "symbols")]
pub(crate) const SYMBOLS: Facts =
    facts(&[INDEX_USE, INDEX_HOME, WATCH, GIT], &[RULES, INDEXES], "comb-grep comb-index-build");

pub(crate) const FIND: Facts = facts(&[], &[INDEX_FILE], "comb-index-build comb-serve comb-grep");

pub(crate) const INDEX: Facts =
    facts(&[INDEX_HOME, WATCH, GIT], &[INDEX_FILE, INDEXES, RULES], "comb-grep comb-find comb-serve");

pub(crate) const INDEX_BUILD: Facts = facts(
    &[
        INDEX_HOME,
        WATCH,
        GIT,
        "OMP_WAIT_POLICY  How the threads that sort suffixes wait for each other [default here: passive].",
    ],
    &[INDEX_FILE, INDEXES, RULES],
    "comb-find comb-serve comb-grep comb-index-update comb-index-watch",
);

pub(crate) const INDEX_UPDATE: Facts = facts(
    &[INDEX_HOME, WATCH, GIT],
    &[INDEXES, RULES],
    "comb-grep comb-symbols comb-index-build comb-index-watch",
);

pub(crate) const INDEX_WATCH: Facts = Facts {
    exit_status: "0  stopped by SIGINT or SIGTERM\n2  an error occurred",
    files: &[
        INDEXES,
        RULES,
        "/proc/sys/fs/inotify/max_user_watches  The number of files and directories that may be watched.",
    ],
    ..INDEX_UPDATE
};

pub(crate) const INDEX_INFO: Facts =
    facts(&[INDEX_HOME, WATCH], &[INDEX_FILE, INDEXES], "comb-index-build comb-find comb-grep");

/// Facts about commands on the file format of the Pi Searcher.
pub(crate) const INDEX_EXPORT: Facts = facts(
    &[],
    &["BASE.4.bin, BASE.4.idx  Digits and suffix array of the Pi Searcher.", INDEX_FILE],
    "comb-index-build comb-find comb-pi",
);

pub(crate) const INDEX_LIST: Facts =
    facts(&[INDEX_HOME, WATCH], &[INDEXES], "comb-index-list comb-index-drop comb-index-info");

pub(crate) const SERVE: Facts = Facts {
    exit_status: "0  stopped by SIGINT or SIGTERM\n2  an error occurred, or requests were cut off at the end",
    ..facts(&[], &[INDEX_FILE], "comb-index-build comb-find comb-cgi comb-bench-serve")
};

pub(crate) const CGI: Facts = facts(
    &["\
REQUEST_METHOD  Method of the request: GET or HEAD.
PATH_INFO  Path of the API; if empty, a search in the first index.
QUERY_STRING  Query of the request."],
    &[INDEX_FILE],
    "comb-serve comb-index-build",
);

pub(crate) const MCP: Facts = facts(
    &[INDEX_USE, INDEX_HOME, WATCH, GIT, ZONE],
    &[RULES, INDEXES],
    "comb-grep comb-symbols comb-find comb-top comb-index-build",
);

pub(crate) const PI: Facts = facts(&[], &[], "comb-index-build comb-find");

pub(crate) const BENCH: Facts = Facts {
    exit_status: "\
0  measured and printed
2  an error occurred
128 + N  ended by signal N, together with the programs that it measured",
    ..facts(
        &[],
        &["/proc/sys/vm/drop_caches  Written by root for a cold page cache."],
        "comb-top comb-grep comb-serve",
    )
};

pub(crate) const BENCH_SPIN: Facts = Facts { files: &[], ..BENCH };

pub(crate) const BENCH_SERVE: Facts = Facts { files: &[INDEX_FILE], related: "comb-serve comb-cgi", ..BENCH };

pub(crate) const LINKS: Facts = facts(&[], &[], "comb-grep comb-top");

pub(crate) const COMPLETIONS: Facts = facts(
    &["\
COMPLETE  Set by the scripts: the name of the shell that asks for completions.
COMPLETE_INDEX  Set by the scripts: the number of the word at the cursor.
COMB_CONFIG  Its --type-add arguments add types of files to complete."],
    &["\
~/.local/share/bash-completion/completions/comb  Completions of Bash.
~/.config/fish/completions/comb.fish  Completions of Fish.
_comb  Completions of Zsh, in a directory of $fpath."],
    "comb-man",
);

pub(crate) const MAN: Facts = facts(
    &["\
PATH  Where man(1) is, which formats the page on a terminal.
PAGER  Shows the help where man(1) is not installed [default: less].
MANPAGER, MANWIDTH  Read by man(1)."],
    &["~/.local/share/man/man1  Pages of programs that a user has installed."],
    "man comb-completions",
);
