//! A comb command at every width.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::Width;
use crate::run::{MeasuredCommand, quoted};
use crate::{Error, Result};

/// The commands with a width, and the flags that set it.
const COMMANDS: [(&str, &[&str]); 3] = [
    ("top", &["-j", "-w", "--threads", "--width"]),
    ("grep", &["-j", "--threads", "--width", "--workers"]),
    ("symbols", &["-j", "-w", "--threads", "--width"]),
];

/// A comb command line that takes a width.
#[derive(Clone, Debug)]
pub(crate) struct Scalable(MeasuredCommand);

impl Scalable {
    /// Checks that the command takes a width, and that its arguments set none.
    pub(crate) fn new(program: PathBuf, words: &[OsString], pipe: Option<PathBuf>) -> Result<Self> {
        let name = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
        let Some((_, flags)) = COMMANDS.iter().find(|(command, _)| *command == name) else {
            let example = "'comb bench scale -- top -f 7 access.log'";
            let reason = format!("'{name}' cannot be scaled; use top, grep or symbols, as in {example}");
            return Err(Error::Other(reason));
        };
        let mut own = words.iter().take_while(|word| *word != "--").map(|word| word.to_string_lossy());
        if let Some(flag) = own.find(|word| sets_width(word, flags)) {
            let reason = format!("remove {flag}: 'comb bench scale' sets the width from --widths");
            return Err(Error::Other(reason));
        }
        Ok(Self(MeasuredCommand { program, arguments: words.to_vec(), pipe }))
    }

    /// The job at a width.
    pub(crate) fn at(&self, width: Width) -> MeasuredCommand {
        let mut job = self.0.clone();
        // After all other flags: the last of several widths applies.
        let position = job.arguments.iter().position(|word| word == "--").unwrap_or(job.arguments.len());
        job.arguments.splice(position..position, ["--width".into(), width.to_string().into()]);
        job
    }

    /// Loads the program and its libraries into the page cache after caches were dropped, by reading and running it.
    pub(crate) fn load_program(&self) -> Result<()> {
        let path = &self.0.program;
        let read = File::open(path).and_then(|mut program| io::copy(&mut program, &mut io::sink()));
        read.map_err(|error| Error::Io { path: path.clone(), doing: "", error })?;
        MeasuredCommand::new(path, ["--version"]).measure().map(drop)
    }

    /// The arguments that are existing files or directories; the current directory if there are none.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let named = self.0.arguments.iter().skip(1).map(PathBuf::from).chain(self.0.pipe.clone());
        let paths: Vec<PathBuf> = named.filter(|path| path.exists()).collect();
        if paths.is_empty() { vec![Path::new(".").to_owned()] } else { paths }
    }

    /// The command line for a shell, without a width.
    pub(crate) fn command_line(&self) -> String {
        let words: Vec<String> =
            self.0.arguments.iter().map(|word| quoted(&word.to_string_lossy())).collect();
        let input = self.0.pipe.iter().map(|pipe| format!("cat {} | ", quoted(&pipe.to_string_lossy())));
        format!("{}comb {}", input.collect::<String>(), words.join(" "))
    }
}

/// Returns `true` if an argument is one of these flags, with or without a value.
fn sets_width(word: &str, flags: &[&str]) -> bool {
    flags.iter().any(|flag| match word.strip_prefix(flag) {
        Some(rest) => rest.is_empty() || rest.starts_with('=') || !flag.starts_with("--"),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests::nonzero;

    fn scalable(words: &[&str]) -> Result<Scalable> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Scalable::new("/bin/comb".into(), &words, None)
    }

    #[test]
    fn the_width_follows_all_other_flags() {
        let scalable = scalable(&["grep", "-e", "a b", "--", "-j"]).expect("a job");
        let job = scalable.at(Width::Fixed(nonzero(4)));
        assert_eq!(job.to_string(), "comb grep -e 'a b' --width 4 -- -j");
        assert_eq!(scalable.at(Width::Auto).to_string(), "comb grep -e 'a b' --width auto -- -j");
        assert_eq!(scalable.command_line(), "comb grep -e 'a b' -- -j");
    }

    #[test]
    fn a_pipe_is_part_of_the_job() {
        let scalable = Scalable::new("comb".into(), &["top".into()], Some("a log".into())).expect("a job");
        assert_eq!(scalable.command_line(), "cat 'a log' | comb top");
        assert_eq!(scalable.at(Width::Auto).pipe, Some("a log".into()));
    }

    #[test]
    fn only_commands_with_a_width_can_be_scaled() {
        let message = |words: &[&str]| scalable(words).expect_err("refused").to_string();
        assert_eq!(
            message(&["index", "info"]),
            "'index' cannot be scaled; use top, grep or symbols, as in 'comb bench scale -- top -f 7 access.log'"
        );
        assert!(message(&["comb", "top"]).starts_with("'comb' cannot be scaled"));
        assert!(message(&[]).starts_with("'' cannot be scaled"));
    }

    #[test]
    fn a_job_that_sets_its_width_is_refused() {
        for (words, flag) in [
            ("top -w4 x", "-w4"),
            ("top -j4 x", "-j4"),
            ("top --threads=4 x", "--threads=4"),
            ("top --width 4", "--width"),
            ("grep x -j 2", "-j"),
            ("grep --threads=2 x", "--threads=2"),
            ("grep --workers=2 x", "--workers=2"),
            ("symbols -j2 x", "-j2"),
            ("symbols x -w 2", "-w"),
        ] {
            let message = scalable(&words.split(' ').collect::<Vec<_>>()).expect_err(flag).to_string();
            assert_eq!(message, format!("remove {flag}: 'comb bench scale' sets the width from --widths"));
        }
        for words in ["grep -w x", "top -f 7", "grep -- --width", "grep --widthy", "symbols -d x"] {
            assert!(scalable(&words.split(' ').collect::<Vec<_>>()).is_ok(), "{words}");
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
