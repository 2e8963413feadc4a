//! Facts about each command that its help has no room for.

/// Names and what they stand for.
type Rows = &'static [(&'static str, &'static str)];

/// Facts about a command.
pub(super) struct Facts {
    /// Exit statuses, if the help does not list them.
    pub(super) exit_status: Rows,
    /// Environment variables that the command reads.
    pub(super) environment: &'static [Rows],
    /// Files that the command reads or writes without being told to.
    pub(super) files: &'static [Rows],
    /// Other pages worth reading.
    pub(super) related: &'static [&'static str],
}

impl Facts {
    /// The facts about the command with this page.
    pub(super) fn of(page: &str) -> &'static Self {
        TABLE.iter().find(|(name, _)| *name == page).map_or(&NONE, |(_, facts)| facts)
    }

    /// The pages that have facts.
    #[cfg(test)]
    pub(super) fn pages() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|&(name, _)| name)
    }
}

/// Facts that hold for any command.
const NONE: Facts = Facts { exit_status: SUCCESS_OR_ERROR, environment: &[COLOR], files: &[], related: &[] };

const SUCCESS_OR_ERROR: Rows = &[("0", "success"), ("2", "an error occurred")];

const STOPPED_OR_ERROR: Rows =
    &[("0", "stopped by SIGINT or SIGTERM"), ("2", "an error occurred, or requests were cut off at the end")];

const MEASURED: Rows = &[
    ("0", "measured and printed"),
    ("2", "an error occurred"),
    ("128 + N", "ended by signal N, together with the programs that it measured"),
];

/// Variables that decide on colour if `--color` does not.
const COLOR: Rows = &[
    ("NO_COLOR", "If not empty, no colour, unless --color asks for it."),
    ("CLICOLOR_FORCE", "If not empty and not 0, colour in files and pipes as well."),
    ("CLICOLOR", "If 0, no colour."),
    ("TERM", "If dumb, no colour."),
];

/// Where indexes of directories are.
const INDEX_HOME: Rows = &[
    ("COMB_INDEX_DIR", "Default of --index-dir: the directory of the indexes of directories."),
    (
        "XDG_CACHE_HOME, HOME",
        "Without COMB_INDEX_DIR, indexes are in $XDG_CACHE_HOME/finecomb or ~/.cache/finecomb.",
    ),
];

/// Where searches and a watch meet.
const WATCH: Rows = &[(
    "XDG_RUNTIME_DIR",
    "Directory of the sockets of 'comb index watch'; without it, they are beside the indexes.",
)];

/// Whether searches use an index.
const INDEX_USE: Rows = &[("COMB_INDEX", "Default of --index: auto, never or require.")];

/// Where git has its rules for all repositories.
const GIT: Rows = &[(
    "GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM, XDG_CONFIG_HOME, HOME",
    "Where git's configuration is, which names core.excludesFile; by default that is ~/.config/git/ignore.",
)];

const ZONE: Rows = &[("TZ", "The local time zone, in which times without a zone are read.")];

/// Files with rules that exclude others.
const RULES: Rows = &[
    (
        ".gitignore, .git/info/exclude",
        "In the directories searched and those above them: rules of git, which hold within repositories.",
    ),
    (
        ".ignore, .rgignore, .agignore",
        "Rules of search programs, in the same directories, which hold everywhere.",
    ),
    ("core.excludesFile", "The file that git's configuration names: rules for all repositories."),
];

const INDEXES: Rows =
    &[("~/.cache/finecomb", "Indexes of directories, by default. Only their owner may read them.")];

const INDEX_FILE: Rows = &[("*.comb", "Index of a text, as 'comb index build' writes it.")];

/// Facts about `comb bench` and its experiments, which differ in nothing.
const BENCH: Facts = Facts {
    exit_status: MEASURED,
    environment: &[COLOR],
    files: &[&[("/proc/sys/vm/drop_caches", "Written by root for a cold page cache.")]],
    related: &["comb-top", "comb-grep", "comb-serve"],
};

/// Facts about commands that write the index of a directory.
const WRITES_TREE_INDEX: Facts = Facts {
    exit_status: SUCCESS_OR_ERROR,
    environment: &[INDEX_HOME, WATCH, GIT, COLOR],
    files: &[INDEXES, RULES],
    related: &["comb-grep", "comb-symbols", "comb-index-build", "comb-index-watch"],
};

/// Facts about commands on an index of either kind.
const READS_INDEX: Facts = Facts {
    exit_status: SUCCESS_OR_ERROR,
    environment: &[INDEX_HOME, WATCH, COLOR],
    files: &[INDEX_FILE, INDEXES],
    related: &["comb-index-build", "comb-find", "comb-grep"],
};

/// Facts about commands on the file format of the Pi Searcher.
const CONVERTS: Facts = Facts {
    exit_status: SUCCESS_OR_ERROR,
    environment: &[COLOR],
    files: &[&[("BASE.4.bin, BASE.4.idx", "Digits and suffix array of the Pi Searcher.")], INDEX_FILE],
    related: &["comb-index-build", "comb-find", "comb-pi"],
};

const TABLE: &[(&str, Facts)] = &[
    (
        "comb",
        Facts {
            exit_status: &[
                ("0", "success; for a search, something was found"),
                ("1", "nothing was found"),
                ("2", "an error occurred, even if the rest of the input was processed"),
                ("130", "interrupted"),
            ],
            environment: &[
                &[("COMB_CONFIG", "File of arguments for 'comb grep'.")],
                INDEX_USE,
                INDEX_HOME,
                COLOR,
                &[
                    ("COLUMNS", "Width of help texts where there is no terminal."),
                    (
                        "COMPLETE",
                        "Name of a shell that asks for completions; the scripts of 'comb completions' set it.",
                    ),
                ],
            ],
            files: &[INDEXES],
            related: &[],
        },
    ),
    (
        "comb-top",
        Facts {
            environment: &[
                ZONE,
                &[("TMPDIR", "Directory of the temporary files of --memory [default: /tmp].")],
                GIT,
                COLOR,
            ],
            files: &[
                &[(
                    "/usr/share/zoneinfo",
                    "Time zones, for --tz and the local zone; without it, those in the program.",
                )],
                RULES,
                &[("", "Rules are read only with --ignore.")],
            ],
            related: &["comb-grep", "comb-bench-scale"],
            ..NONE
        },
    ),
    (
        "comb-grep",
        Facts {
            environment: &[
                &[(
                    "COMB_CONFIG",
                    "File with arguments that come before those of the command line; --no-config ignores it.",
                )],
                INDEX_USE,
                INDEX_HOME,
                WATCH,
                GIT,
                ZONE,
                &[
                    (
                        "WSL_DISTRO_NAME",
                        "Name of the distribution in the links of --hyperlink-format on Windows.",
                    ),
                    ("PATH", "Where the programs of --pre, --pager and --hostname-bin are."),
                ],
                COLOR,
            ],
            files: &[RULES, INDEXES],
            related: &[
                "comb-grep",
                "comb-index-build",
                "comb-index-watch",
                "comb-symbols",
                "comb-find",
                "comb-links",
            ],
            ..NONE
        },
    ),
    (
        "comb-symbols",
        Facts {
            environment: &[INDEX_USE, INDEX_HOME, WATCH, GIT, COLOR],
            files: &[RULES, INDEXES],
            related: &["comb-grep", "comb-index-build"],
            ..NONE
        },
    ),
    (
        "comb-find",
        Facts { files: &[INDEX_FILE], related: &["comb-index-build", "comb-serve", "comb-grep"], ..NONE },
    ),
    (
        "comb-index",
        Facts {
            related: &["comb-grep", "comb-find", "comb-serve"],
            files: &[INDEX_FILE, INDEXES, RULES],
            ..WRITES_TREE_INDEX
        },
    ),
    (
        "comb-index-build",
        Facts {
            environment: &[
                INDEX_HOME,
                WATCH,
                GIT,
                &[(
                    "OMP_WAIT_POLICY",
                    "How the threads that sort suffixes wait for each other [default here: passive].",
                )],
                COLOR,
            ],
            files: &[INDEX_FILE, INDEXES, RULES],
            related: &["comb-find", "comb-serve", "comb-grep", "comb-index-update", "comb-index-watch"],
            ..NONE
        },
    ),
    ("comb-index-update", WRITES_TREE_INDEX),
    (
        "comb-index-watch",
        Facts {
            exit_status: &[("0", "stopped by SIGINT or SIGTERM"), ("2", "an error occurred")],
            files: &[
                INDEXES,
                RULES,
                &[(
                    "/proc/sys/fs/inotify/max_user_watches",
                    "The number of files and directories that may be watched.",
                )],
            ],
            ..WRITES_TREE_INDEX
        },
    ),
    ("comb-index-info", READS_INDEX),
    ("comb-index-verify", READS_INDEX),
    ("comb-index-export", CONVERTS),
    ("comb-index-import", CONVERTS),
    (
        "comb-index-list",
        Facts { files: &[INDEXES], related: &["comb-index-drop", "comb-index-info"], ..READS_INDEX },
    ),
    ("comb-index-drop", Facts { files: &[INDEXES], related: &["comb-index-list"], ..READS_INDEX }),
    (
        "comb-serve",
        Facts {
            exit_status: STOPPED_OR_ERROR,
            files: &[INDEX_FILE],
            related: &["comb-index-build", "comb-find", "comb-cgi", "comb-bench-serve"],
            ..NONE
        },
    ),
    (
        "comb-cgi",
        Facts {
            environment: &[
                &[
                    ("REQUEST_METHOD", "Method of the request: GET or HEAD."),
                    ("PATH_INFO", "Path of the API; if empty, a search in the first index."),
                    ("QUERY_STRING", "Query of the request."),
                ],
                COLOR,
            ],
            files: &[INDEX_FILE],
            related: &["comb-serve", "comb-index-build"],
            ..NONE
        },
    ),
    (
        "comb-mcp",
        Facts {
            environment: &[INDEX_USE, INDEX_HOME, WATCH, GIT, ZONE, COLOR],
            files: &[RULES, INDEXES],
            related: &["comb-grep", "comb-symbols", "comb-find", "comb-top", "comb-index-build"],
            ..NONE
        },
    ),
    ("comb-pi", Facts { related: &["comb-index-build", "comb-find"], ..NONE }),
    ("comb-bench", BENCH),
    ("comb-bench-scale", BENCH),
    ("comb-bench-spin", Facts { files: &[], ..BENCH }),
    ("comb-bench-spawn", BENCH),
    ("comb-bench-overlap", BENCH),
    ("comb-bench-serve", Facts { files: &[INDEX_FILE], related: &["comb-serve", "comb-cgi"], ..BENCH }),
    ("comb-links", Facts { related: &["comb-grep", "comb-top"], ..NONE }),
    (
        "comb-completions",
        Facts {
            environment: &[
                &[
                    ("COMPLETE", "Set by the scripts: the name of the shell that asks for completions."),
                    ("COMPLETE_INDEX", "Set by the scripts: the number of the word at the cursor."),
                    ("COMB_CONFIG", "Its --type-add arguments add types of files to complete."),
                ],
                COLOR,
            ],
            files: &[&[
                ("~/.local/share/bash-completion/completions/comb", "Completions of Bash."),
                ("~/.config/fish/completions/comb.fish", "Completions of Fish."),
                ("_comb", "Completions of Zsh, in a directory of $fpath."),
            ]],
            related: &["comb-man"],
            ..NONE
        },
    ),
    (
        "comb-man",
        Facts {
            environment: &[
                &[
                    ("PATH", "Where man(1) is, which formats the page on a terminal."),
                    ("PAGER", "Shows the help where man(1) is not installed [default: less]."),
                    ("MANPAGER, MANWIDTH", "Read by man(1)."),
                ],
                COLOR,
            ],
            files: &[&[("~/.local/share/man/man1", "Pages of programs that a user has installed.")]],
            related: &["man", "comb-completions"],
            ..NONE
        },
    ),
];
