//! The rules by which a text is cut into records of any kind that may span lines.

use super::Records;
use super::objects::{ObjectState, Objects};
use super::quoting::{QuoteState, Quoting, Transition};

/// The rules of records that may span lines.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RecordRules {
    Quoted(Quoting),
    Objects(Objects),
}

/// State between two bytes of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RecordState {
    /// The beginning of a record.
    #[default]
    Start,
    Quoted(QuoteState),
    Objects(ObjectState),
}

/// Effect of a text on a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordEffect {
    /// The state after the text.
    pub(crate) state: RecordState,
    /// Position after the last end of a record in the text; 0 if none ends in it.
    pub(crate) last_record: usize,
}

/// Effect of a text on every state.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RecordTransition {
    /// The text cannot be read: every state remains.
    Unknown,
    Quoted(Transition),
    /// There are too many states: the text is passed once the state at its beginning is known.
    OneByOne(Objects),
}

impl RecordTransition {
    /// Effect on this state. `text` is the one that it was made of.
    pub(crate) fn of(&self, text: &[u8], state: RecordState) -> RecordEffect {
        match *self {
            Self::OneByOne(objects) => RecordRules::Objects(objects).pass(text, state),
            Self::Quoted(_) | Self::Unknown => {
                self.known(state).unwrap_or(RecordEffect { state, last_record: 0 })
            }
        }
    }

    /// Effect on this state, if it is known without the text.
    pub(crate) fn known(&self, state: RecordState) -> Option<RecordEffect> {
        match self {
            Self::Unknown => Some(RecordEffect { state, last_record: 0 }),
            Self::Quoted(transition) => Some(transition.of(state.quoted()).into()),
            Self::OneByOne(_) => None,
        }
    }
}

impl RecordState {
    fn quoted(self) -> QuoteState {
        match self {
            Self::Quoted(state) => state,
            Self::Start | Self::Objects(_) => QuoteState::Start,
        }
    }

    fn objects(self) -> ObjectState {
        match self {
            Self::Objects(state) => state,
            Self::Start | Self::Quoted(_) => ObjectState::default(),
        }
    }

    /// Whether a record was begun that only a quote or bracket can end.
    pub(crate) fn is_open(self) -> bool {
        match self {
            Self::Start => false,
            Self::Quoted(state) => state == QuoteState::Quoted,
            Self::Objects(state) => state.is_in_record(),
        }
    }
}

impl RecordRules {
    /// The rules of records with quotes or brackets.
    pub(crate) fn new(records: &Records, line_end: u8) -> Option<Self> {
        match *records {
            Records::Lines | Records::Started(_) | Records::Unclosed { .. } => None,
            Records::Quoted { delimiter } => Some(Self::Quoted(Quoting::new(delimiter, line_end))),
            Records::Objects { array } => Some(Self::Objects(Objects::new(array))),
        }
    }

    /// Effect of a text on a state.
    pub(crate) fn pass(self, text: &[u8], state: RecordState) -> RecordEffect {
        match self {
            Self::Quoted(quoting) => quoting.pass(text, state.quoted()).into(),
            Self::Objects(objects) => {
                let (state, last_record) = objects.pass(text, state.objects());
                RecordEffect { state: RecordState::Objects(state), last_record }
            }
        }
    }

    /// Effect of a text on every state.
    pub(crate) fn transition(self, text: &[u8]) -> RecordTransition {
        match self {
            Self::Quoted(quoting) => RecordTransition::Quoted(quoting.transition(text)),
            Self::Objects(objects) => RecordTransition::OneByOne(objects),
        }
    }

    /// Returns the position of the first end of a record in `text`; if there is none, the state after the text.
    pub(crate) fn first_end(self, text: &[u8], state: RecordState) -> Result<usize, RecordState> {
        match self {
            Self::Quoted(quoting) => quoting.first_end(text, state.quoted()).map_err(RecordState::Quoted),
            Self::Objects(objects) => objects.first_end(text, state.objects()).map_err(RecordState::Objects),
        }
    }
}
