//! `comb links`: links under the names of other programs.

use std::env;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::symlink;
use std::path::Path;

use finecomb_sys::io_reason;

use crate::exit::{Exit, Failure, fail, print};
use crate::links::args::LinksArguments;
use crate::program::Program;

/// Programs that call rg, and their settings. Programs that call ag or Topfew need no settings.
const USERS_OF_RG: &str = "
Programs that look for rg in PATH use the link if its directory comes first: Telescope
(vimgrep_arguments), rg.el (rg-executable) and consult of Emacs, grepprg of Vim, commands
of fzf, and most coding agents. Others bring their own rg:
  VS Code      in resources/app/node_modules/@vscode/ripgrep-universal/bin/linux-x64 of its
               installation; comb links --force THAT_DIRECTORY rg replaces it until an update
  Claude Code  uses the one in PATH if USE_BUILTIN_RIPGREP=0 is set
";

/// Runs the command.
pub(crate) fn run(arguments: &LinksArguments) -> Result<Exit, Failure> {
    let program = env::current_exe()
        .map_err(|error| format!("the path of this program is unknown: {}", io_reason(&error)))?;
    let (mut text, mut has_rg, mut exit) = (String::new(), false, Exit::Found);
    for name in Program::OTHERS.map(Program::name) {
        if !arguments.names.is_empty() && !arguments.names.iter().any(|wanted| wanted == name) {
            continue;
        }
        let link = arguments.directory.join(name);
        match make(&program, &link, arguments.force) {
            Ok(()) => {
                text.push_str(&format!("{} -> {}\n", link.display(), program.display()));
                has_rg |= name == Program::Rg.name();
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                exit = fail(format_args!("{}: exists; --force replaces it", link.display()));
            }
            Err(error) => exit = fail(format_args!("{}: {}", link.display(), io_reason(&error))),
        }
    }
    if has_rg {
        text.push_str(USERS_OF_RG);
    }
    Ok(print(text.as_bytes()).or(exit))
}

/// Makes a link, unless it is there already. With `force`, it replaces a file.
fn make(program: &Path, link: &Path, force: bool) -> io::Result<()> {
    if fs::read_link(link).is_ok_and(|target| target == program) {
        return Ok(());
    }
    if !force {
        return symlink(program, link);
    }
    // A link beside it, so that the name is never without a program.
    let mut temporary = link.as_os_str().to_owned();
    temporary.push(format!(".{}", std::process::id()));
    symlink(program, &temporary)?;
    fs::rename(&temporary, link).inspect_err(|_| drop(fs::remove_file(&temporary)))
}
