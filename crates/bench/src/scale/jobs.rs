//! A command of comb at every width.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::Width;
use crate::run::{Job, quoted};
use crate::{Error, Result};

/// The commands that can be given a width, and the flags that set it.
const COMMANDS: [(&str, &[&str]); 2] =
    [("top", &["-j", "-w", "--threads", "--width"]), ("grep", &["-j", "--threads", "--width", "--workers"])];

/// A command line of comb that can be given a width.
#[derive(Clone, Debug)]
pub(super) struct Scalable(Job);

impl Scalable {
    /// Checks that these words can be given a width, and are not given one already.
    pub(super) fn new(program: PathBuf, words: &[OsString], pipe: Option<PathBuf>) -> Result<Self> {
        let name = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
        let Some((_, flags)) = COMMANDS.iter().find(|(command, _)| *command == name) else {
            let example = "'comb bench scale -- top -f 7 access.log'";
            let reason =
                format!("cannot set the number of threads of '{name}'; use top or grep, as in {example}");
            return Err(Error::Other(reason));
        };
        let mut own = words.iter().take_while(|word| *word != "--").map(|word| word.to_string_lossy());
        if let Some(flag) = own.find(|word| sets(word, flags)) {
            let reason = format!("omit {flag}: 'comb bench scale' sets the number of threads; use --widths");
            return Err(Error::Other(reason));
        }
        Ok(Self(Job { program, arguments: words.to_vec(), pipe }))
    }

    /// The job at a width.
    pub(super) fn at(&self, width: Width) -> Job {
        let mut job = self.0.clone();
        // Behind all flags: of several widths the last one holds.
        let place = job.arguments.iter().position(|word| word == "--").unwrap_or(job.arguments.len());
        job.arguments.splice(place..place, ["--width".into(), width.to_string().into()]);
        job
    }

    /// Brings the program itself back into memory after caches were dropped, and by running it the libraries that it needs.
    pub(super) fn awaken(&self) -> Result<()> {
        let path = &self.0.program;
        let read = File::open(path).and_then(|mut program| io::copy(&mut program, &mut io::sink()));
        read.map_err(|error| Error::Io { path: path.clone(), doing: "", error })?;
        Job::new(path, ["--version"]).measure().map(drop)
    }

    /// The files and directories that it reads, as far as its arguments tell; the current directory if they name none.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let named = self.0.arguments.iter().skip(1).map(PathBuf::from).chain(self.0.pipe.clone());
        let paths: Vec<PathBuf> = named.filter(|path| path.exists()).collect();
        if paths.is_empty() { vec![Path::new(".").to_owned()] } else { paths }
    }

    /// The command line without a width.
    pub(super) fn line(&self) -> String {
        let words: Vec<String> =
            self.0.arguments.iter().map(|word| quoted(&word.to_string_lossy())).collect();
        let input = self.0.pipe.iter().map(|pipe| format!("cat {} | ", quoted(&pipe.to_string_lossy())));
        format!("{}comb {}", input.collect::<String>(), words.join(" "))
    }
}

/// Whether a word is one of these flags, alone or with its value.
fn sets(word: &str, flags: &[&str]) -> bool {
    flags.iter().any(|flag| match word.strip_prefix(flag) {
        Some(rest) => rest.is_empty() || rest.starts_with('=') || !flag.starts_with("--"),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    fn scalable(words: &[&str]) -> Result<Scalable> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Scalable::new("/bin/comb".into(), &words, None)
    }

    #[test]
    fn the_width_follows_all_other_flags() {
        let scalable = scalable(&["grep", "-e", "a b", "--", "-j"]).expect("a job");
        let job = scalable.at(Width::Fixed(NonZeroUsize::new(4).expect("not zero")));
        assert_eq!(job.to_string(), "comb grep -e 'a b' --width 4 -- -j");
        assert_eq!(scalable.at(Width::Auto).to_string(), "comb grep -e 'a b' --width auto -- -j");
        assert_eq!(scalable.line(), "comb grep -e 'a b' -- -j");
    }

    #[test]
    fn a_pipe_is_part_of_the_job() {
        let scalable = Scalable::new("comb".into(), &["top".into()], Some("a log".into())).expect("a job");
        assert_eq!(scalable.line(), "cat 'a log' | comb top");
        assert_eq!(scalable.at(Width::Auto).pipe, Some("a log".into()));
    }

    #[test]
    fn only_what_takes_a_width_can_be_scaled() {
        let said = |words: &[&str]| scalable(words).expect_err("refused").to_string();
        assert_eq!(
            said(&["index", "info"]),
            "cannot set the number of threads of 'index'; use top or grep, as in 'comb bench scale -- top -f 7 access.log'"
        );
        assert!(said(&["comb", "top"]).starts_with("cannot set the number of threads of 'comb'"));
        assert!(said(&[]).starts_with("cannot set the number of threads of ''"));
    }

    #[test]
    fn a_width_of_its_own_is_refused() {
        for (words, flag) in [
            (&["top", "-w4", "x"][..], "-w4"),
            (&["top", "-j4", "x"], "-j4"),
            (&["top", "--threads=4", "x"], "--threads=4"),
            (&["top", "--width", "4"], "--width"),
            (&["grep", "x", "-j", "2"], "-j"),
            (&["grep", "--threads=2", "x"], "--threads=2"),
            (&["grep", "--workers=2", "x"], "--workers=2"),
        ] {
            let message = scalable(words).expect_err(flag).to_string();
            assert_eq!(
                message,
                format!("omit {flag}: 'comb bench scale' sets the number of threads; use --widths")
            );
        }
        for words in
            [&["grep", "-w", "x"][..], &["top", "-f", "7"], &["grep", "--", "--width"], &["grep", "--widthy"]]
        {
            assert!(scalable(words).is_ok(), "{words:?}");
        }
    }

    #[test]
    fn paths_are_the_arguments_that_exist() {
        let paths = |words: &[&str]| scalable(words).expect("a job").paths();
        assert_eq!(
            paths(&["grep", "fn main", "Cargo.toml", "src"]),
            [Path::new("Cargo.toml"), Path::new("src")]
        );
        assert_eq!(paths(&["grep", "fn main"]), [Path::new(".")]);
    }
}
