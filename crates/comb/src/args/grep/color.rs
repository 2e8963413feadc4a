//! Colours and links.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::Args;
use grep_printer::{
    ColorSpecs, HyperlinkConfig, HyperlinkEnvironment, HyperlinkFormat, UserColorSpec, default_color_specs,
};

use super::order::Order;
use super::value;
use crate::terminal::When;

#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "Colours and links")]
pub(crate) struct Colors {
    // In place of the flag that all commands have, as this one takes part in what undoes what.
    /// When to print in colour [default: auto]
    #[arg(long, value_enum, value_name = "WHEN")]
    color: Option<When>,

    /// What to print in which colour, such as match:fg:magenta or path:style:bold; may be given more than once
    ///
    /// It is TYPE:fg:COLOR, TYPE:bg:COLOR, TYPE:style:STYLE, or TYPE:none to begin anew. TYPE is path, line, column,
    /// match or highlight. COLOR is a name (black, blue, green, red, cyan, magenta, yellow, white), a number
    /// from 0 to 255, or R,G,B. STYLE is bold, intense, underline or italic, or one of these with no before it.
    #[arg(long, value_name = "SPEC", value_parser = value::color)]
    colors: Vec<UserColorSpec>,

    /// Let paths link to files: default, file, vscode or another known name, or a format of your own
    ///
    /// A format is an address with {path} in it, and {host}, {line} and {column} if need be. There are links only where
    /// there are colours.
    #[arg(long, value_name = "FORMAT", value_parser = value::hyperlink, allow_hyphen_values = true, hide_short_help = true)]
    hyperlink_format: Option<HyperlinkFormat>,

    /// A program that prints the name of this host for links
    #[arg(long, value_name = "PROGRAM", allow_hyphen_values = true, hide_short_help = true)]
    hostname_bin: Option<std::ffi::OsString>,
}

impl Colors {
    /// When to print in colour, but for what --pretty says.
    pub(super) fn when(&self, order: &Order) -> When {
        if order.has("nocolor") { When::Never } else { self.color.unwrap_or(When::Auto) }
    }

    /// The colours.
    pub(super) fn specs(&self) -> ColorSpecs {
        let mut specs = default_color_specs();
        specs.extend(self.colors.iter().cloned());
        ColorSpecs::new(&specs)
    }

    /// How paths link to files, if they are to.
    pub(super) fn links(&self) -> Option<HyperlinkConfig> {
        let format = self.hyperlink_format.clone().filter(|format| !format.is_empty())?;
        let mut environment = HyperlinkEnvironment::new();
        let program = self.hostname_bin.as_deref().filter(|program| !program.is_empty());
        environment.host(program.and_then(|program| said_by(Path::new(program))).or_else(host));
        let distribution = env::var("WSL_DISTRO_NAME").ok();
        environment.wsl_prefix(distribution.map(|name| format!("wsl$/{name}")));
        Some(HyperlinkConfig::new(environment, format))
    }
}

/// What a program prints, if it prints anything.
fn said_by(program: &Path) -> Option<String> {
    let output = Command::new(program).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|name| output.status.success() && !name.is_empty())
}

/// The name of this host as the system knows it.
fn host() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}
