//! `comb man`: pages as text, as roff, as files, and on a terminal.

use std::fs;

use crate::pager::shown;
use crate::support::{Place, directory_with};

#[test]
fn pages_of_all_commands_are_written() {
    let directory = directory_with(&[]);
    directory.prints("comb man -o share/man1", "");
    for (name, words) in [
        ("comb", ""),
        ("comb-top", "top"),
        ("comb-index-build", "index build"),
        ("comb-bench-scale", "bench scale"),
        ("comb-cgi", "cgi"),
    ] {
        let (printed, ..) = directory.run(&format!("comb man --roff {words}"));
        assert_eq!(directory.read(&format!("share/man1/{name}.1")), printed, "{name}");
        assert!(printed.contains(&format!(".TH {name} 1 ")), "{printed}");
    }
    assert!(!directory.at("share/man1/comb-help.1").exists());
    // Again, in place of those.
    directory.prints("comb man -o share/man1", "");
    let err = directory.refuses("touch file; comb man -o file/man1", "");
    assert!(err.starts_with("comb: file/man1: ") && err.lines().count() == 1, "{err}");
}

#[test]
fn formatters_find_no_fault_with_the_pages() {
    let directory = directory_with(&[]);
    directory.prints(
        "comb man -o pages; for page in pages/*; do groff -man -Tutf8 -ww -z $page || exit; done",
        "",
    );
    assert!(fs::read_dir(directory.at("pages")).expect("the pages").count() > 20);
}

#[test]
fn a_terminal_shows_the_formatted_page() {
    let directory = directory_with(&[("bin/man", "#!/bin/sh\necho \"man $*\"\ngrep -c '^.SH'\n")]);
    directory.prints("chmod +x bin/man", "");
    let page = shown(&directory, "PATH=$PWD/bin:$PATH comb man index build");
    assert_eq!(page, "man -l -\n9\n");
    // Into a pipe, man(1) prints text.
    directory.prints("PATH=$PWD/bin:$PATH comb man index build | cat", "man -l -\n9\n");
}

#[test]
fn without_man_the_help_is_shown() {
    let directory = directory_with(&[("bin/none", "")]);
    // Neither man nor less is there.
    let tools = "for tool in sh sed env cat; do ln -sf \"$(command -v $tool)\" bin/; done";
    let page = shown(&directory, &format!("{tools}; PAGER=\"sed 's/^/> /'\" PATH=$PWD/bin comb man top"));
    assert!(page.starts_with("> comb: man is not installed; this is the help\n"), "{page}");
    assert!(page.contains("> Usage: comb top "), "{page}");
    let page = shown(&directory, "PAGER= PATH=$PWD/bin comb man find");
    assert!(page.contains("\nUsage: comb find "), "{page}");
    let (page, err, code) = directory.run("PATH=$PWD/bin comb man find | cat");
    assert_eq!((err.as_str(), code), ("comb: man is not installed; this is the help\n", Some(0)));
    assert!(page.contains("\nUsage: comb find "), "{page}");
}
