//! The compiled form of rules, and what it says about a request.

use std::net::IpAddr;

use ipnet::IpNet;

use super::{Subject, matching::Match, view::View};

/// Compiled rules, with what they look up in a request gathered, so that each
/// part of it is read once for all of them.
pub(super) struct Tree {
    pub(super) root: Node,
    /// How many rules there are.
    pub(super) rules: usize,
    pub(super) names: Names,
    /// Whether any rule looks into the body.
    pub(super) reads_payload: bool,
}

/// What rules look up by name, each sorted and without repetition.
#[derive(Default)]
pub(super) struct Names {
    /// Dotted paths into the body.
    pub(super) payload: Vec<Box<str>>,
    /// Query keys.
    pub(super) query: Vec<Box<str>>,
}

pub(super) enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    None(Vec<Node>),
    Match(Box<Match>),
    SentFrom(Vec<IpNet>),
}

impl Tree {
    pub(super) fn matches(&self, subject: &Subject<'_>) -> bool {
        self.root.matches(&View::new(subject, &self.names))
    }
}

impl Node {
    /// Recurses at most [`super::MAX_DEPTH`] deep.
    pub(super) fn matches(&self, view: &View<'_>) -> bool {
        match self {
            Self::All(nodes) => nodes.iter().all(|node| node.matches(view)),
            Self::Any(nodes) => nodes.iter().any(|node| node.matches(view)),
            Self::None(nodes) => !nodes.iter().any(|node| node.matches(view)),
            Self::Match(test) => test.matches(view),
            Self::SentFrom(networks) => view.remote_addr().is_some_and(|address: IpAddr| {
                networks.iter().any(|network| network.contains(&address))
            }),
        }
    }
}
