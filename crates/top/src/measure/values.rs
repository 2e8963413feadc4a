//! Numbers of a column of a block.

use finecomb_sys::simd::{Kernel, Masks, dispatch};

use crate::cells::{Cell, Cells};
use crate::measure::number::{Decimal, MAX_PLACES, NoNumber, POWERS, parse_plain, small_power};
use crate::measure::reader::NumberReader;

/// Units up to this magnitude are narrow. So the extremes of 64 bits are never the units of a value.
const MAX_NARROW: i128 = 1 << 62;

/// The records of a block whose values are added.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    /// All, in order.
    All,
    /// Those with these indexes.
    Some(&'a [u32]),
}

/// The values of a field in the records of a block, and the groups of the records.
pub(super) struct Selected<'a> {
    pub(super) groups: &'a [u32],
    pub(super) rows: Rows<'a>,
    pub(super) text: &'a [u8],
    pub(super) cells: &'a Cells,
    pub(super) field: usize,
}

impl Selected<'_> {
    /// Calls `visit` with the group, the index and the cell of each record.
    #[inline(always)]
    pub(super) fn for_each(&self, mut visit: impl FnMut(u32, u32, Cell)) {
        match self.rows {
            Rows::All => self.all().for_each(|(group, row, cell)| visit(group, row, cell)),
            Rows::Some(rows) => self.some(rows).for_each(|(group, row, cell)| visit(group, row, cell)),
        }
    }

    /// The group, the index and the cell of each record, if all are selected.
    #[inline(always)]
    fn all(&self) -> impl Iterator<Item = (u32, u32, Cell)> {
        let column = self.cells.column(self.field);
        self.groups.iter().zip(0..).zip(column).map(|((&group, row), &cell)| (group, row, cell))
    }

    /// The group, the index and the cell of the records `rows`.
    #[inline(always)]
    fn some(&self, rows: &[u32]) -> impl Iterator<Item = (u32, u32, Cell)> {
        let column = self.cells.column(self.field);
        self.groups.iter().zip(rows).map(|(&group, &row)| (group, row, column[row as usize]))
    }
}

/// The numbers of a column of a block, by their units: the numbers times 10^places. The memory is reused.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// Groups and units of the values that fit into 64 bits.
    pub(super) groups: Vec<u32>,
    pub(super) units: Vec<i64>,
    /// Groups and units of all others.
    pub(super) wide_groups: Vec<u32>,
    pub(super) wide: Vec<i128>,
    /// Places of the values as they are written.
    places: Vec<u8>,
    wide_places: Vec<u8>,
    /// The bit of each number of places.
    seen_places: u32,
}

impl Values {
    /// Parses the values of a column: those with a unit if some have one, otherwise all. Values that are no numbers are appended to `bad`,
    /// with the index of the record.
    pub(super) fn parse(
        &mut self,
        selected: &Selected<'_>,
        reader: &NumberReader,
        have_units: bool,
        bad: &mut Vec<(u32, usize)>,
    ) -> Parsed {
        let before = bad.len();
        if !have_units {
            let parsed = self.parse_as::<false>(selected, reader, bad);
            if !parsed.have_units {
                return parsed;
            }
            bad.truncate(before);
        }
        self.parse_as::<true>(selected, reader, bad)
    }

    /// Parses the values with a unit, or those without one up to the first with one.
    fn parse_as<const UNITS: bool>(
        &mut self,
        selected: &Selected<'_>,
        reader: &NumberReader,
        bad: &mut Vec<(u32, usize)>,
    ) -> Parsed {
        self.clear(selected.groups.len());
        let [mut plain, mut rounded, mut out_of_range] = [SomeNumbers::default(); 3];
        let have_units = dispatch(ParseColumn::<UNITS> {
            values: self,
            selected,
            reader,
            bad,
            plain: &mut plain,
            rounded: &mut rounded,
            out_of_range: &mut out_of_range,
        });
        if !UNITS {
            plain.count = (self.groups.len() + self.wide_groups.len()) as u64;
            plain.first = first_number(selected, reader).filter(|_| plain.count > 0);
        }
        Parsed { places: self.most_places(), have_units, plain, rounded, out_of_range }
    }

    /// Makes room for `count` narrow values.
    fn clear(&mut self, count: usize) {
        self.groups.resize(count, 0);
        self.units.resize(count, 0);
        self.places.resize(count, 0);
        self.wide_groups.clear();
        self.wide.clear();
        self.wide_places.clear();
        self.seen_places = 0;
    }

    #[cold]
    fn push_wide(&mut self, group: u32, Decimal { units, places }: Decimal) {
        self.wide_groups.push(group);
        self.wide.push(units);
        self.wide_places.push(places);
        self.seen_places |= 1 << places;
    }

    fn most_places(&self) -> u8 {
        self.seen_places.checked_ilog2().unwrap_or(0) as u8
    }

    /// Gives all values this number of places, at least the maximum.
    pub(super) fn rescale(&mut self, places: u8) {
        for (units, own) in self.wide.iter_mut().zip(&self.wide_places) {
            *units *= POWERS[usize::from(places - own)];
        }
        if self.seen_places & !(1 << places) == 0 {
            return;
        }
        let mut kept = 0;
        for index in 0..self.groups.len() {
            let (group, units) = (self.groups[index], self.units[index]);
            let factor = small_power(places - self.places[index]);
            match units.checked_mul(factor).filter(|units| i128::from(*units).abs() <= MAX_NARROW) {
                Some(units) => {
                    self.groups[kept] = group;
                    self.units[kept] = units;
                    kept += 1;
                }
                None => {
                    self.wide_groups.push(group);
                    self.wide.push(i128::from(units) * i128::from(factor));
                }
            }
        }
        self.groups.truncate(kept);
        self.units.truncate(kept);
    }

    pub(super) fn memory(&self) -> usize {
        self.groups.capacity() * 4
            + self.units.capacity() * 8
            + self.places.capacity()
            + self.wide.capacity() * 16
            + self.wide_groups.capacity() * 4
            + self.wide_places.capacity()
    }
}

/// Findings about the values of a column.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parsed {
    /// Maximum number of places.
    pub(crate) places: u8,
    /// Whether some numbers have a unit.
    pub(crate) have_units: bool,
    /// The numbers without a unit.
    pub(crate) plain: SomeNumbers,
    /// The numbers that are used, rounded to the maximum number of places.
    pub(crate) rounded: SomeNumbers,
    /// The numbers that are left out because they are out of range.
    pub(crate) out_of_range: SomeNumbers,
}

/// Some of the numbers in a column of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SomeNumbers {
    pub(crate) count: u64,
    /// The row of the first.
    pub(crate) first: Option<u32>,
}

impl SomeNumbers {
    fn add(&mut self, row: u32) {
        self.count += 1;
        self.first = self.first.or(Some(row));
    }
}

/// The row of the first number of a column.
fn first_number(selected: &Selected<'_>, reader: &NumberReader) -> Option<u32> {
    let mut buffer = Vec::new();
    let mut is_number = |cell| {
        let text = selected.cells.bytes(selected.text, cell)?;
        reader.read(text, &mut buffer).ok()
    };
    match selected.rows {
        Rows::All => selected.all().find(|&(.., cell)| is_number(cell).is_some()),
        Rows::Some(rows) => selected.some(rows).find(|&(.., cell)| is_number(cell).is_some()),
    }
    .map(|(_, row, _)| row)
}

/// Parses the values of a column. Returns whether some have a unit.
struct ParseColumn<'a, 's, const UNITS: bool> {
    values: &'a mut Values,
    selected: &'a Selected<'s>,
    reader: &'a NumberReader,
    bad: &'a mut Vec<(u32, usize)>,
    /// The numbers that are left out because they have no unit.
    plain: &'a mut SomeNumbers,
    rounded: &'a mut SomeNumbers,
    out_of_range: &'a mut SomeNumbers,
}

impl<const UNITS: bool> Kernel for ParseColumn<'_, '_, UNITS> {
    type Output = bool;

    /// The masks are not used, but the instructions for shifts.
    #[inline(always)]
    fn run<M: Masks>(self, _: M) -> bool {
        let selected = self.selected;
        match selected.rows {
            Rows::All => self.parse(selected.all()),
            Rows::Some(rows) => self.parse(selected.some(rows)),
        }
    }
}

impl<const UNITS: bool> ParseColumn<'_, '_, UNITS> {
    /// A loop, and no closure: that would be compiled separately, without the instructions of the kernel.
    #[inline(always)]
    fn parse(self, records: impl Iterator<Item = (u32, u32, Cell)>) -> bool {
        let Self { values, selected, reader, bad, plain, rounded, out_of_range } = self;
        let count = values.groups.len();
        let mut narrow = values.groups.iter_mut().zip(&mut values.units).zip(&mut values.places);
        let (mut wide, mut buffer) = (Vec::new(), Vec::new());
        let (mut seen_places, mut have_units) = (0, UNITS);
        let is_usual = reader.is_usual();
        for (group, row, cell) in records {
            let (text, start, end) = match cell {
                Cell::Missing => continue,
                Cell::Raw(start, end) => (selected.text, start as usize, end as usize),
                Cell::Decoded(..) => {
                    let text = selected.cells.bytes(selected.text, cell).unwrap_or_default();
                    (text, 0, text.len())
                }
            };
            let (units, places) = match if is_usual { parse_plain(text, start, end) } else { None } {
                Some(_) if UNITS => {
                    plain.add(row);
                    continue;
                }
                Some(number) => number,
                None => match reader.read_any(text, (start, end), &mut buffer) {
                    Ok((_, false)) if UNITS => {
                        plain.add(row);
                        continue;
                    }
                    Ok((_, true)) if !UNITS => {
                        have_units = true;
                        break;
                    }
                    Ok((number, _)) => {
                        if number.places == MAX_PLACES && reader.rounds(text, (start, end), &buffer) {
                            rounded.add(row);
                        }
                        if number.units.abs() > MAX_NARROW {
                            wide.push((group, number));
                            continue;
                        }
                        (number.units as i64, number.places)
                    }
                    Err(NoNumber::NoValue) => continue,
                    Err(NoNumber::Invalid) => {
                        bad.push((row, selected.field));
                        continue;
                    }
                    Err(NoNumber::OutOfRange) => {
                        out_of_range.add(row);
                        continue;
                    }
                },
            };
            seen_places |= 1 << places;
            // There is room for a value of each record.
            if let Some(((to_group, to_units), to_places)) = narrow.next() {
                (*to_group, *to_units, *to_places) = (group, units, places);
            }
        }
        let count = count - narrow.len();
        values.groups.truncate(count);
        values.units.truncate(count);
        values.places.truncate(count);
        values.seen_places |= seen_places;
        wide.into_iter().for_each(|(group, number)| values.push_wide(group, number));
        have_units
    }
}
