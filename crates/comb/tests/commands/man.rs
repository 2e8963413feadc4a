//! `comb man`: pages as roff, as files, and on a terminal.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::pager::shown;
use crate::support::{COMB, Place, directory_with, program, run};

#[test]
fn pages_of_all_commands_are_written() {
    let directory = directory_with(&[]);
    let man = |target: &str| run(program(COMB, directory.path()).args(["man", "-o", target]));
    assert_eq!(man("share/man1"), (String::new(), String::new(), Some(0)));
    let pages = directory.at("share/man1");
    for (name, words) in [
        ("comb.1", &[][..]),
        ("comb-top.1", &["top"]),
        ("comb-index-build.1", &["index", "build"]),
        ("comb-bench-scale.1", &["bench", "scale"]),
        ("comb-cgi.1", &["cgi"]),
    ] {
        let (printed, ..) = run(program(COMB, directory.path()).arg("man").args(words));
        assert_eq!(fs::read_to_string(pages.join(name)).expect("a page"), printed, "{name}");
        assert!(printed.contains(&format!(".TH {} 1 ", name.trim_end_matches(".1"))), "{printed}");
    }
    assert!(!pages.join("comb-help.1").exists());
    // Again, in place of those.
    assert_eq!(man("share/man1").2, Some(0));
    fs::write(directory.at("file"), "").expect("a file");
    let (out, err, code) = man("file/man1");
    assert_eq!((out.as_str(), code), ("", Some(2)));
    assert!(err.starts_with("comb: file/man1: ") && err.lines().count() == 1, "{err}");
}

#[test]
fn formatters_find_no_fault_with_the_pages() {
    let directory = directory_with(&[]);
    let (_, err, code) = run(program(COMB, directory.path()).args(["man", "-o", "pages"]));
    assert_eq!((err.as_str(), code), ("", Some(0)));
    for page in fs::read_dir(directory.at("pages")).expect("the pages") {
        let page = page.expect("an entry").path();
        let (_, err, code) =
            run(program("groff", Path::new("/")).args(["-man", "-Tutf8", "-ww", "-z"]).arg(&page));
        assert_eq!((err.as_str(), code), ("", Some(0)), "{}", page.display());
    }
}

#[test]
fn a_terminal_shows_the_formatted_page() {
    let directory = directory_with(&[("bin/man", "#!/bin/sh\necho \"man $*\"\ngrep -c '^.SH'\n")]);
    let man = directory.at("bin/man");
    assert!(Command::new("chmod").arg("+x").arg(&man).status().expect("chmod").success());
    let page = shown(&directory, "PATH=$PWD/bin:$PATH comb man index build");
    assert_eq!(page, "man -l -\n9\n");
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
}
