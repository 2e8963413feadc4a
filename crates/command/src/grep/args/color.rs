//! Colours and hyperlinks.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::Args;
use finecomb_grep::Hyperlink;
use grep_printer::{ColorSpecs, HyperlinkFormat, UserColorSpec, default_color_specs};

use crate::grep::args::order::{Off, Order};
use crate::grep::args::value;
use crate::terminal::When;

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "Colours and hyperlinks")]
pub(crate) struct Colors {
    // Replaces the global flag of the same name, so that --nocolor can override it.
    /// When to use colour [default: auto]
    #[arg(long, value_enum, value_name = "WHEN", add = Off(&["nocolor"]))]
    color: Option<When>,

    /// Colour or style of a part of the output, such as match:fg:magenta or path:style:bold; repeatable
    ///
    /// SPEC is TYPE:fg:COLOR, TYPE:bg:COLOR, TYPE:style:STYLE, or TYPE:none to clear the settings of TYPE. TYPE is path, line,
    /// column, match or highlight. COLOR is a name (black, blue, green, red, cyan, magenta, yellow, white), a number from 0 to
    /// 255, or R,G,B. STYLE is bold, intense, underline or italic, or one of these with the prefix no.
    #[arg(long, value_name = "SPEC", value_parser = value::color)]
    colors: Vec<UserColorSpec>,

    /// Print paths as hyperlinks; FORMAT is default, file, vscode or another known name, or a URL
    ///
    /// The URL contains {path}, and optionally {host}, {line} and {column}. Hyperlinks are printed only with colours.
    #[arg(long, value_name = "FORMAT", value_parser = value::hyperlink, allow_hyphen_values = true, hide_short_help = true)]
    hyperlink_format: Option<HyperlinkFormat>,

    /// Program that prints the host name for hyperlinks
    #[arg(long, value_name = "PROGRAM", allow_hyphen_values = true, hide_short_help = true)]
    hostname_bin: Option<std::ffi::OsString>,
}

impl Colors {
    /// When to use colour, apart from --pretty.
    pub(super) fn when(&self, order: &Order) -> When {
        if order.has("nocolor") { When::Never } else { self.color.unwrap_or(When::Auto) }
    }

    /// The default colours, changed by `--colors`.
    pub(super) fn specs(&self) -> ColorSpecs {
        let mut specs = default_color_specs();
        specs.extend(self.colors.iter().cloned());
        ColorSpecs::new(&specs)
    }

    /// Configuration of hyperlinks; `None` without hyperlinks.
    pub(super) fn links(&self) -> Option<Hyperlink> {
        let format = self.hyperlink_format.as_ref().filter(|format| !format.is_empty())?;
        let program = self.hostname_bin.as_deref().filter(|program| !program.is_empty());
        let host = program.and_then(|program| output_of(Path::new(program))).or_else(host);
        let distribution = env::var("WSL_DISTRO_NAME").ok().map(|name| format!("wsl$/{name}"));
        Some(Hyperlink::new(format, host.as_deref(), distribution.as_deref()))
    }
}

/// Trimmed output of a program; `None` if the program fails or prints nothing.
fn output_of(program: &Path) -> Option<String> {
    let output = Command::new(program).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|name| output.status.success() && !name.is_empty())
}

/// Host name of the system.
fn host() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}
