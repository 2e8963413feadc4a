//! Files that come and go in followed directories before they are read.
//!
//! The kernel reports each file that gets a name there or loses it, by name. Such a *generation* is unread until a search relates it
//! to a file that is followed or left alone: one at the same place, where no change was reported while it was opened, or during the
//! search. So a generation that ends unread is lost, unless it was one of the few files that were opened while their names changed: these
//! are counted, and subtracted.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;
use std::time::Instant;

use finecomb_sys::notify::{Event, Kinds};

use super::occasion::Occasion;
use crate::block::Source;
use crate::problem::{ProblemKind, Problems};

/// A name in a watched directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// Number of the watch of the directory.
    pub(super) watch: i32,
    pub(super) name: Vec<u8>,
}

/// A file that a search finds at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundThere {
    /// The followed file with this number.
    Followed(usize),
    /// A file that is left alone, or cannot be opened.
    LeftAlone,
    /// A file that cannot be opened now, and is tried again.
    Refused,
}

/// The unread generations, and the numbers of lost ones.
#[derive(Default)]
pub(super) struct Generations {
    directories: HashMap<i32, WatchedDirectory>,
    /// Generations between the two reports of their renaming, by the number in both, with the number of searches since the first one.
    moving: HashMap<u32, (Moving, u8)>,
    /// Unread generations that have ended, perhaps under names that are not selected.
    ended: Vec<(Place, Generation)>,
    found: Vec<(Place, FoundThere)>,
    /// Places with changes during the present search.
    touched: HashSet<Place>,
    /// Numbers of the generations that came to a place according to the reports that were taken last.
    arrived: Vec<(Place, u64)>,
    /// Number of the next generation.
    next: u64,
    losses: BTreeMap<Source, Losses>,
    /// Whether the kernel has dropped reports.
    has_gaps: bool,
    occasion: Occasion,
}

/// A directory whose names are reported.
struct WatchedDirectory {
    source: Source,
    /// Whether files in it are followed that are not named themselves.
    is_followed: bool,
    /// Names of named inputs in it.
    named: HashMap<Vec<u8>, Source>,
    unread: HashMap<Vec<u8>, Generation>,
    /// Whether the present search has found it.
    is_present: bool,
    /// Number of whole searches since the last one that has found it. One misses a directory that is renamed meanwhile.
    absences: u8,
}

/// Number of searches that must miss a directory before it is gone.
const ABSENCES: u8 = 2;

/// An unread generation.
struct Generation {
    number: u64,
    may_have_contents: bool,
    /// Its first name in this directory, if it has another one now.
    former: Option<Vec<u8>>,
    /// Whether its name was selected when a search last found its directory.
    was_selected: Option<bool>,
}

/// A generation that is being renamed, with its place before that.
enum Moving {
    Unread(Place, Generation),
    Read,
}

#[derive(Default)]
struct Losses {
    /// Number of generations that have ended unread.
    ended: u64,
    /// Numbers of files that were opened, and are not related to a generation so far, with whether they have had contents.
    unrelated: HashMap<usize, bool>,
    reported: u64,
}

impl Losses {
    fn unreported(&self) -> u64 {
        let opened = self.unrelated.values().filter(|&&has_contents| has_contents).count();
        (self.ended - self.reported).saturating_sub(opened as u64)
    }
}

impl WatchedDirectory {
    fn may_select(&self, name: &[u8]) -> bool {
        self.is_followed || self.named.contains_key(name)
    }

    fn is_gone(&self) -> bool {
        self.absences >= ABSENCES
    }

    fn source_of(&self, name: &[u8]) -> &Source {
        self.named.get(name).unwrap_or(&self.source)
    }
}

impl Generations {
    /// Takes reports of changes, in their order, during a search or before it.
    pub(super) fn take(&mut self, events: &[Event], is_searching: bool) {
        self.arrived.clear();
        for event in events {
            if event.kinds.contains(Kinds::OVERFLOW) {
                self.start_over();
            }
            let name = event.name.as_ref().filter(|_| !event.kinds.contains(Kinds::DIRECTORY));
            let (Some(name), Some(directory)) = (name, self.directories.get_mut(&event.watch)) else {
                continue;
            };
            if event.kinds == Kinds::MODIFY {
                let unread = directory.unread.get_mut(name);
                unread.into_iter().for_each(|generation| generation.may_have_contents = true);
                continue;
            }
            let place = Place { watch: event.watch, name: name.clone() };
            if is_searching {
                self.touched.insert(place.clone());
            }
            self.change(event, place);
        }
    }

    /// Forgets all generations, as reports about them were dropped.
    fn start_over(&mut self) {
        self.directories.values_mut().for_each(|directory| directory.unread.clear());
        self.moving.clear();
        self.losses.values_mut().for_each(|losses| losses.unrelated.clear());
        self.has_gaps = true;
    }

    /// Takes the report that a name has got a file or lost it.
    fn change(&mut self, event: &Event, place: Place) {
        let Some(directory) = self.directories.get_mut(&event.watch) else { return };
        let previous = directory.unread.remove(&place.name);
        let may_select = directory.may_select(&place.name);
        if event.kinds.contains(Kinds::MOVED_FROM) {
            let moving = match previous {
                Some(generation) => Moving::Unread(place, generation),
                None if may_select => Moving::Read,
                None => return,
            };
            self.moving.insert(event.cookie, (moving, 0));
            return;
        }
        // It was removed, or replaced by the renamed file.
        if let Some(previous) = previous {
            self.end(place.clone(), previous);
        }
        let generation = match event.kinds {
            // Writes to files that are named themselves are not reported here.
            Kinds::CREATE => self.generation(!self.is_followed(&place)),
            Kinds::MOVED_TO => match self.moving.remove(&event.cookie) {
                Some((Moving::Read, _)) => return,
                Some((Moving::Unread(from, mut generation), _)) => {
                    let is_same = from.watch == place.watch;
                    generation.former =
                        generation.former.filter(|_| is_same).or(is_same.then_some(from.name));
                    generation
                }
                None => self.generation(true),
            },
            _ => return,
        };
        self.next = self.next.max(generation.number + 1);
        self.arrived.push((place.clone(), generation.number));
        if !may_select && generation.former.is_some() {
            return self.end(place, generation);
        }
        if let Some(directory) = self.directories.get_mut(&place.watch).filter(|_| may_select) {
            directory.unread.insert(place.name, generation);
        }
    }

    fn generation(&self, may_have_contents: bool) -> Generation {
        Generation { number: self.next, may_have_contents, former: None, was_selected: None }
    }

    fn is_followed(&self, place: &Place) -> bool {
        self.directories.get(&place.watch).is_some_and(|directory| directory.is_followed)
    }

    /// Records that a generation has ended unread. A search decides whether it was selected.
    fn end(&mut self, place: Place, generation: Generation) {
        if generation.may_have_contents {
            self.ended.push((place, generation));
        }
    }

    fn lose(&mut self, place: &Place) {
        let Some(directory) = self.directories.get(&place.watch) else { return };
        self.losses.entry(directory.source_of(&place.name).clone()).or_default().ended += 1;
    }

    /// Begins a search for files.
    pub(super) fn begin_search(&mut self) {
        self.directories.values_mut().for_each(|directory| directory.is_present = false);
        self.found.clear();
        self.touched.clear();
    }

    /// Records that the search has found a directory with followed files. `selects` says whether a file with a name is one. Returns
    /// whether the directory is new.
    pub(super) fn find_directory(
        &mut self,
        watch: i32,
        source: &Source,
        selects: impl Fn(&[u8]) -> bool,
    ) -> bool {
        let is_new = !self.directories.contains_key(&watch);
        let ended = mem::take(&mut self.ended);
        let directory = self.directory(watch, source);
        directory.is_followed = true;
        let named: HashSet<Vec<u8>> = directory.named.keys().cloned().collect();
        let selects = |name: &[u8]| named.contains(name) || selects(name);
        let was_selected = |former: &Option<Vec<u8>>| former.as_deref().is_some_and(selects);
        let mut lost = Vec::new();
        directory.unread.retain(|name, generation| {
            let is_selected = selects(name);
            generation.was_selected = Some(is_selected);
            let has_left = generation.may_have_contents && !is_selected && was_selected(&generation.former);
            lost.extend(has_left.then(|| Place { watch, name: name.clone() }));
            !has_left
        });
        for (place, generation) in ended {
            if place.watch != watch {
                self.ended.push((place, generation));
            } else if selects(&place.name) || was_selected(&generation.former) {
                lost.push(place);
            }
        }
        lost.iter().for_each(|place| self.lose(place));
        is_new
    }

    /// Records that the search looks for a named input at a place. Returns whether its directory is new.
    pub(super) fn find_named(&mut self, place: &Place, source: &Source) -> bool {
        let is_new = !self.directories.contains_key(&place.watch);
        self.directory(place.watch, source).named.insert(place.name.clone(), source.clone());
        is_new
    }

    fn directory(&mut self, watch: i32, source: &Source) -> &mut WatchedDirectory {
        let directory = self.directories.entry(watch).or_insert_with(|| WatchedDirectory {
            source: source.clone(),
            is_followed: false,
            named: HashMap::new(),
            unread: HashMap::new(),
            is_present: true,
            absences: 0,
        });
        directory.is_present = true;
        directory
    }

    /// Records what the search has found at a place.
    pub(super) fn find(&mut self, place: Place, found: FoundThere) {
        self.found.push((place, found));
    }

    /// The number of the unread generation at a place.
    pub(super) fn at(&self, place: &Place) -> Option<u64> {
        Some(self.directories.get(&place.watch)?.unread.get(&place.name)?.number)
    }

    /// Records that the file with this number was opened at a place, between the last changes that were taken and those before. `before` is the
    /// generation that was there before the last ones.
    pub(super) fn open(&mut self, place: &Place, before: Option<u64>, number: usize) {
        let arrived =
            self.arrived.iter().filter(|(there, _)| there == place).map(|&(_, generation)| generation);
        let mut candidates = before.into_iter().chain(arrived);
        match (candidates.next(), candidates.next()) {
            (None, _) => {}
            (Some(generation), None) => self.relate(generation),
            _ => {
                let Some(directory) = self.directories.get(&place.watch) else { return };
                let source = directory.source_of(&place.name).clone();
                self.losses.entry(source).or_default().unrelated.insert(number, false);
            }
        }
    }

    /// Forgets a generation that is not unread any more, wherever it is now.
    fn relate(&mut self, number: u64) {
        let is_other = |generation: &Generation| generation.number != number;
        self.directories
            .values_mut()
            .for_each(|directory| directory.unread.retain(|_, generation| is_other(generation)));
        self.ended.retain(|(_, generation)| is_other(generation));
        for (moving, _) in self.moving.values_mut() {
            if matches!(moving, Moving::Unread(_, generation) if !is_other(generation)) {
                *moving = Moving::Read;
            }
        }
    }

    /// Records that the opened file with this number has contents.
    pub(super) fn fill(&mut self, number: usize) {
        for losses in self.losses.values_mut() {
            losses.unrelated.entry(number).and_modify(|has_contents| *has_contents = true);
        }
    }

    /// Ends a search, once the reports of changes during it were taken. `is_whole` says that all directories could be listed.
    pub(super) fn end_search(&mut self, is_whole: bool) {
        for (place, found) in mem::take(&mut self.found) {
            let directory = self.directories.get_mut(&place.watch);
            let Some(directory) = directory.filter(|_| !self.touched.contains(&place)) else { continue };
            match found {
                FoundThere::Refused => {
                    let number = self.next;
                    self.next += 1;
                    let was_selected = Some(true);
                    let unread = Generation { number, may_have_contents: true, former: None, was_selected };
                    directory.unread.entry(place.name).or_insert(unread);
                }
                FoundThere::LeftAlone => {
                    directory.unread.remove(&place.name);
                }
                FoundThere::Followed(number) => {
                    directory.unread.remove(&place.name);
                    for losses in self.losses.values_mut() {
                        losses.unrelated.remove(&number);
                    }
                }
            }
        }
        self.end_moved();
        if !is_whole {
            return;
        }
        self.end_directories();
    }

    /// Ends the generations in directories that are not there any more.
    fn end_directories(&mut self) {
        for directory in self.directories.values_mut() {
            directory.absences = if directory.is_present { 0 } else { directory.absences + 1 };
        }
        for (place, generation) in mem::take(&mut self.ended) {
            match self.directories.get(&place.watch) {
                // Changes during the search: the next one decides.
                Some(directory) if !directory.is_gone() && directory.is_followed => {
                    self.ended.push((place, generation));
                }
                _ if generation.was_selected == Some(false) => {}
                _ => self.lose(&place),
            }
        }
        let gone = self.directories.iter().filter(|(_, directory)| directory.is_gone());
        let unread = gone.flat_map(|(&watch, directory)| {
            let is_lost = |generation: &Generation| {
                generation.may_have_contents && generation.was_selected != Some(false)
            };
            let names = directory.unread.iter().filter(move |(_, generation)| is_lost(generation));
            names.map(move |(name, _)| Place { watch, name: name.clone() })
        });
        unread.collect::<Vec<_>>().iter().for_each(|place| self.lose(place));
        self.directories.retain(|_, directory| !directory.is_gone());
    }

    /// Ends the generations that were renamed to a place that is not watched. The second report may come after one search.
    fn end_moved(&mut self) {
        let mut moved = Vec::new();
        for (moving, age) in self.moving.values_mut() {
            *age += 1;
            if *age > 1
                && let Moving::Unread(place, generation) = mem::replace(moving, Moving::Read)
            {
                moved.push((place, generation));
            }
        }
        self.moving.retain(|_, (_, age)| *age <= 1);
        moved.into_iter().for_each(|(place, generation)| self.end(place, generation));
    }

    /// Whether another search is needed to know which generations are lost.
    pub(super) fn are_undecided(&self) -> bool {
        let is_unread = |(moving, _): &(Moving, u8)| matches!(moving, Moving::Unread(..));
        let may_be_gone =
            |directory: &WatchedDirectory| directory.absences > 0 && !directory.unread.is_empty();
        !self.ended.is_empty()
            || self.moving.values().any(is_unread)
            || self.directories.values().any(may_be_gone)
    }

    /// Reports how many generations were lost, if it is time to, or for the last time.
    pub(super) fn report(&mut self, is_last: bool, problems: &mut Problems) {
        let has_losses = self.has_gaps || self.losses.values().any(|losses| losses.unreported() > 0);
        if !self.occasion.is_there(has_losses, is_last) {
            return;
        }
        for (source, losses) in &mut self.losses {
            let lost = losses.unreported();
            if lost > 0 {
                losses.reported += lost;
                problems.add(source, ProblemKind::Vanished(lost));
            }
        }
        if mem::take(&mut self.has_gaps)
            && let Some(directory) = self.directories.values().min_by_key(|directory| &directory.source)
        {
            problems.add(&directory.source, ProblemKind::Unreported);
        }
    }

    /// When there is something to report.
    pub(super) fn report_at(&self) -> Option<Instant> {
        self.occasion.at()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;

    const WATCH: i32 = 1;

    /// The reports of changes: `+a` creates a file, `~a` writes to it, `-a` removes it, `a>b` renames it, and so from or to a place that is
    /// not watched without one of the names.
    fn events(script: &str) -> Vec<Event> {
        let event = |kinds, name: &str, cookie| {
            (!name.is_empty()).then(|| Event {
                watch: WATCH,
                kinds,
                name: Some(name.as_bytes().to_vec()),
                cookie,
            })
        };
        let event_of = |(number, change): (usize, &str)| match (change.split_at(1), change.split_once('>')) {
            (_, Some((from, to))) => {
                let cookie = number as u32 + 1;
                [event(Kinds::MOVED_FROM, from, cookie), event(Kinds::MOVED_TO, to, cookie)]
            }
            (("+", name), _) => [event(Kinds::CREATE, name, 0), None],
            (("~", name), _) => [event(Kinds::MODIFY, name, 0), None],
            ((_, name), _) => [event(Kinds::DELETE, name, 0), None],
        };
        script.split_whitespace().enumerate().flat_map(event_of).flatten().collect()
    }

    /// Files that are followed: those with names that end with `.log`.
    #[derive(Default)]
    struct World {
        generations: Generations,
        opened: HashSet<usize>,
    }

    impl World {
        /// Takes changes, and searches. It finds files with numbers, which have contents; there are other changes while they are opened.
        fn search(&mut self, before: &str, found: &[(&str, usize)], during: &str) {
            let (generations, source) = (&mut self.generations, Source::named(0, Some("logs".into())));
            generations.take(&events(before), false);
            generations.begin_search();
            generations.find_directory(WATCH, &source, |name| name.ends_with(b".log"));
            let place = |name: &str| Place { watch: WATCH, name: name.as_bytes().to_vec() };
            let before: Vec<Option<u64>> =
                found.iter().map(|(name, _)| generations.at(&place(name))).collect();
            generations.take(&events(during), true);
            for (&(name, number), before) in found.iter().zip(before) {
                let place = place(name);
                if self.opened.insert(number) {
                    generations.open(&place, before, number);
                    generations.fill(number);
                }
                generations.find(place, FoundThere::Followed(number));
            }
            generations.end_search(true);
        }

        /// Takes changes, and searches, but does not find the directory.
        fn search_elsewhere(&mut self, before: &str) {
            self.generations.take(&events(before), false);
            self.generations.begin_search();
            self.generations.end_search(true);
        }

        /// Number of lost files since the last call.
        fn lost(&mut self) -> u64 {
            let mut problems = Problems::default();
            self.generations.report(true, &mut problems);
            let lost = |problem: Problem| match problem.kind {
                ProblemKind::Vanished(lost) => lost,
                kind => panic!("{kind}"),
            };
            problems.into_sorted().map(lost).sum()
        }
    }

    /// Changes before a search, the files that it finds, and changes while they are opened.
    type Searched<'a> = (&'a str, &'a [(&'a str, usize)], &'a str);

    /// Files that were lost after the searches of a case.
    fn lost(searches: &[Searched<'_>]) -> u64 {
        let mut world = World::default();
        world.search("", &[], "");
        for (before, found, during) in searches {
            world.search(before, found, during);
        }
        let lost = world.lost();
        world.search("", &[], "");
        assert_eq!(world.lost(), 0, "{searches:?}");
        lost
    }

    #[test]
    fn files_that_were_removed_unread_are_lost() {
        assert_eq!(lost(&[("+a.log ~a.log", &[("a.log", 1)], ""), ("-a.log", &[], "")]), 0);
        assert_eq!(lost(&[("+a.log ~a.log -a.log", &[], "")]), 1);
        assert_eq!(lost(&[("+a.log", &[], "~a.log -a.log"), ("", &[], "")]), 1);
        // Without contents, or not selected.
        assert_eq!(lost(&[("+a.log -a.log +b.txt ~b.txt -b.txt", &[], "+c.txt ~c.txt -c.txt")]), 0);
        // Several of one name: the last one is read.
        let three = "+a.log ~a.log -a.log +a.log ~a.log -a.log +a.log ~a.log";
        assert_eq!(lost(&[(three, &[("a.log", 1)], "")]), 2);
        // Files that were there before are read, or have been reported.
        assert_eq!(lost(&[("", &[("a.log", 1)], ""), ("-a.log -other.log", &[], "")]), 0);
    }

    #[test]
    fn renamed_files_stay_the_same() {
        assert_eq!(lost(&[("+a.log ~a.log a.log>b.log", &[("b.log", 1)], ""), ("-b.log", &[], "")]), 0);
        assert_eq!(lost(&[("+a.log ~a.log a.log>b.log b.log>c.log -c.log", &[], "")]), 1);
        // To and from names that are not selected.
        assert_eq!(lost(&[("+a.log ~a.log a.log>a.old", &[], "")]), 1);
        assert_eq!(lost(&[("+a.tmp ~a.tmp a.tmp>a.log", &[("a.log", 1)], ""), ("-a.log", &[], "")]), 0);
        assert_eq!(lost(&[("+a.tmp ~a.tmp a.tmp>a.log -a.log", &[], "")]), 1);
        // To and from places that are not watched.
        assert_eq!(lost(&[("+a.log ~a.log a.log>", &[], ""), ("", &[], ""), ("", &[], "")]), 1);
        assert_eq!(
            lost(&[(">a.log", &[("a.log", 1)], ""), ("a.log>", &[], ""), (">a.log", &[("a.log", 1)], "")]),
            0
        );
        // Over another one.
        assert_eq!(lost(&[("+a.log ~a.log +b.log ~b.log a.log>b.log", &[("b.log", 1)], "")]), 1);
    }

    #[test]
    fn files_that_are_opened_while_names_change_are_counted_once() {
        assert_eq!(lost(&[("+a.log ~a.log", &[("a.log", 1)], "-a.log")]), 0);
        assert_eq!(lost(&[("+a.log ~a.log", &[("a.log", 1)], "a.log>a.old")]), 0);
        // It is not known which of the two was opened.
        assert_eq!(
            lost(&[("+a.log ~a.log", &[("a.log", 1)], "-a.log +a.log ~a.log"), ("-a.log", &[], "")]),
            1
        );
        assert_eq!(lost(&[("+a.log ~a.log", &[("a.log", 1)], "a.log>b.log"), ("", &[("b.log", 1)], "")]), 0);
        assert_eq!(lost(&[("", &[("a.log", 1)], "+a.log ~a.log"), ("", &[("a.log", 1)], "")]), 0);
        assert_eq!(lost(&[("", &[("a.log", 1)], "+a.log ~a.log -a.log"), ("", &[], "")]), 0);
    }

    #[test]
    fn files_are_lost_with_their_directory_unless_it_is_only_renamed() {
        let mut world = World::default();
        world.search("", &[], "");
        world.search_elsewhere("+a.log ~a.log +b.log ~b.log -b.log");
        assert_eq!((world.generations.are_undecided(), world.lost()), (true, 0));
        world.search("", &[("a.log", 1)], "");
        assert_eq!(world.lost(), 1, "b.log");
        world.search_elsewhere("+c.log ~c.log");
        world.search_elsewhere("");
        assert_eq!((world.generations.are_undecided(), world.lost()), (false, 1));
    }

    #[test]
    fn dropped_reports_are_told_once() {
        let mut world = World::default();
        world.search("+a.log ~a.log", &[], "");
        let overflow = Event { watch: -1, kinds: Kinds::OVERFLOW, name: None, cookie: 0 };
        world.generations.take(&[overflow], false);
        let mut problems = Problems::default();
        world.generations.report(true, &mut problems);
        let told: Vec<String> = problems.into_sorted().map(|problem| problem.to_string()).collect();
        let expected =
            "logs: too many changes at once: files that came and went meanwhile may not have been counted";
        assert_eq!(told, [expected]);
        assert_eq!(world.lost(), 0);
    }
}
