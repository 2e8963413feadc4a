//! The profile as a self-contained HTML page: a timeline, a pie chart for each thread, and a table.

use std::fmt::Write;
use std::time::Duration;

use finecomb_sys::markup::escaped;
use finecomb_sys::units::Time;

use super::Report;
use super::timeline::{self, Timeline};
use crate::clock::ThreadTimes;
use crate::phase::Phase;

const PAGE: &str = include_str!("page.html");

impl Report {
    /// Formats the profile as an HTML page. The timeline is empty unless spans were recorded.
    pub fn html(&self) -> String {
        let command = if self.command.is_empty() { "comb" } else { &self.command };
        let fields = [
            ("command", escaped(command).into_owned()),
            ("headline", self.headline()),
            ("legend", self.legend()),
            ("lanes", self.lanes()),
            ("half", Time(self.wall / 2).to_string()),
            ("wall", Time(self.wall).to_string()),
            ("note", self.note()),
            ("pies", self.pies()),
            ("table", self.table()),
        ];
        filled(PAGE, &fields)
    }

    fn legend(&self) -> String {
        let mut legend = String::new();
        for phase in self.phases() {
            let _ = write!(legend, "<li><i style=\"background:{}\"></i>{phase}</li>", color(phase));
        }
        legend
    }

    fn lanes(&self) -> String {
        let mut lanes = String::new();
        for (number, thread) in (1..).zip(&self.threads) {
            let spans = thread.spans.iter().flat_map(|spans| spans.as_slice());
            let timeline = Timeline::new(spans, self.wall);
            let _ = write!(
                lanes,
                "<div class=\"lane\"><span>thread {number}</span>\
                 <svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\">",
                timeline::COLUMNS,
                timeline::HEIGHT
            );
            for phase in self.phases() {
                let path = timeline.path(phase);
                if !path.is_empty() {
                    let _ = write!(
                        lanes,
                        "<path fill=\"{}\" d=\"{path}\"><title>{phase}</title></path>",
                        color(phase)
                    );
                }
            }
            lanes.push_str("</svg></div>\n");
        }
        lanes
    }

    fn note(&self) -> String {
        let columns = format!(
            "A column covers {} and shows the share of each phase.",
            Time(self.wall / timeline::COLUMNS)
        );
        match self.grain() {
            Duration::ZERO => columns,
            grain => format!(
                "{columns} Phases shorter than {} are merged with their neighbours in this timeline, but not in the \
                 figures below.",
                Time(grain)
            ),
        }
    }

    fn pies(&self) -> String {
        let mut pies = String::new();
        for (number, thread) in (1..).zip(&self.threads) {
            let _ = write!(
                pies,
                "<figure><svg viewBox=\"0 0 64 64\"><circle class=\"rim\" cx=\"32\" cy=\"32\" r=\"31.83\"/>{}</svg>\
                 <figcaption>thread {number}</figcaption></figure>",
                self.slices(thread)
            );
        }
        pies
    }

    /// Each slice is a dash of a circle whose circumference is 100 and whose stroke reaches to the centre.
    fn slices(&self, thread: &ThreadTimes) -> String {
        let mut slices = String::new();
        let mut before = 0.0;
        for phase in self.phases() {
            let share = self.share(thread.spent(phase));
            if share == 0.0 {
                continue;
            }
            let _ = write!(
                slices,
                "<circle cx=\"32\" cy=\"32\" r=\"15.9155\" fill=\"none\" stroke=\"{}\" stroke-width=\"31.83\" \
                 stroke-dasharray=\"{share:.3} {:.3}\" stroke-dashoffset=\"{:.3}\" transform=\"rotate(-90 32 32)\">\
                 <title>{phase}: {share:.1} %, {}</title></circle>",
                color(phase),
                100.0 - share,
                -before,
                Time(thread.spent(phase))
            );
            before += share;
        }
        slices
    }

    /// Share of the wall time, in per cent.
    fn share(&self, time: Duration) -> f64 {
        if self.wall.is_zero() { 0.0 } else { 100.0 * time.as_secs_f64() / self.wall.as_secs_f64() }
    }

    fn table(&self) -> String {
        let mut table = String::from("<tr><th>ms</th>");
        for number in 1..=self.threads.len() {
            let _ = write!(table, "<th>thread {number}</th>");
        }
        table.push_str("<th>all</th></tr>");
        for row in self.rows() {
            let _ = write!(table, "<tr><th>{}</th>", row.name);
            for value in row.values.iter().chain([&row.sum]) {
                let _ = write!(table, "<td>{}</td>", row.cell(*value));
            }
            table.push_str("</tr>");
        }
        table
    }
}

fn color(phase: Phase) -> String {
    let (red, green, blue) = phase.color();
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Replaces each `@name@` of the page. The replacements are not scanned again.
fn filled(page: &str, fields: &[(&str, String)]) -> String {
    let mut pieces = page.split('@');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    while let Some(piece) = pieces.next() {
        match fields.iter().find(|(name, _)| *name == piece) {
            Some((_, text)) => {
                filled.push_str(text);
                filled.push_str(pieces.next().unwrap_or_default());
            }
            None => {
                filled.push('@');
                filled.push_str(piece);
            }
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::example;

    #[test]
    fn the_page_has_a_lane_and_a_pie_for_each_thread() {
        let page = example().html();
        assert!(page.contains("<code>comb top -f 7 &quot;a &lt;b&gt;.log&quot;</code>"));
        assert_eq!(page.matches("<figure>").count(), 2);
        assert_eq!(page.matches("class=\"lane\"").count(), 2);
        assert!(page.contains("<title>count: 73.8 %, 4.50 ms</title>"), "{page}");
        assert!(!page.contains("@lanes@") && !page.contains("<b>"));
        // At-rules of the style sheet are not fields.
        assert!(page.contains("@media"));
        assert!(!page.contains("http"), "the page is self-contained");
    }

    #[test]
    fn replacements_are_not_scanned_again() {
        let fields = [("a", "@b@".to_owned()), ("b", "x".to_owned())];
        assert_eq!(filled("1@a@2@b@3@media c", &fields), "1@b@2x3@media c");
    }
}
