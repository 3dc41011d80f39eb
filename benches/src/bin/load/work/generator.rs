//! The generator's process.

use crate::{
    Outcome,
    options::Context,
    part::{
        Said,
        generator::{Answered, Plan},
    },
    process::Peer,
};

#[derive(Debug)]
pub(crate) struct Generator(pub(crate) Peer);

impl Generator {
    pub(crate) fn start(context: &Context) -> Outcome<Self> {
        Ok(Self(Peer::start(&context.exe, &["generate"])?))
    }

    /// Follows the plan to its end; `progress` hears about once a second what
    /// was acknowledged so far.
    pub(crate) fn run(
        &mut self,
        plan: &Plan,
        progress: impl FnMut(u64) -> Outcome<()>,
    ) -> Outcome<Answered> {
        self.begin(plan)?;
        self.finish(progress)
    }

    pub(crate) fn begin(&mut self, plan: &Plan) -> Outcome<()> {
        self.0.tell(plan)
    }

    pub(crate) fn finish(
        &mut self,
        mut progress: impl FnMut(u64) -> Outcome<()>,
    ) -> Outcome<Answered> {
        loop {
            match self.0.hear()? {
                Said::Progress(count) => progress(count)?,
                Said::Done(answered) => return Ok(answered),
            }
        }
    }
}
