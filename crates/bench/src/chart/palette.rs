//! Which colour a series has.

use plotters::style::RGBColor;

use super::Chart;

/// The colours of Okabe and Ito, those that stand out best from white first; yellow, which hardly does, is left out.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// The colours of a chart's series: by their names, so that a name means the same in all panels.
pub(super) struct Palette<'a> {
    names: Vec<&'a str>,
}

impl<'a> Palette<'a> {
    pub(super) fn new(chart: &'a Chart) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let all = || chart.panels.iter().flat_map(|panel| &panel.series);
        for series in all().filter(|series| series.kind.marked()).chain(all()) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        Self { names }
    }

    /// The number of a name, in the order in which names appear, those of what was measured first. Colours and marks
    /// repeat when there are more names.
    pub(super) fn index(&self, name: &str) -> usize {
        self.names.iter().position(|&known| known == name).unwrap_or(0)
    }

    pub(super) fn colour(&self, name: &str) -> RGBColor {
        COLOURS[self.index(name) % COLOURS.len()]
    }
}
