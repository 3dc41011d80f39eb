//! Work that is finished even when nobody waits for it any more.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

/// A future that goes on in a task of its own when it is dropped before its end.
///
/// A sender that hangs up while its webhook is being committed must not leave a
/// delivery behind that is stored as held and in nobody's queue.
pub(super) struct Uncancelled<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    future: Option<Pin<Box<F>>>,
}

impl<F> Uncancelled<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    pub(super) fn new(future: F) -> Self {
        Self { future: Some(Box::pin(future)) }
    }
}

impl<F> Future for Uncancelled<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Some(future) = self.future.as_mut() else {
            return Poll::Pending;
        };
        let output = ready!(future.as_mut().poll(cx));
        self.future = None;
        Poll::Ready(output)
    }
}

impl<F> Drop for Uncancelled<F>
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn drop(&mut self) {
        if let Some(future) = self.future.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(future);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn goes_on_after_a_timeout() {
        let (sender, receiver) = oneshot::channel();
        let work = Uncancelled::new(async move {
            tokio::time::sleep(Duration::from_secs(2)).await;
            sender.send(7).expect("somebody listens");
        });
        tokio::time::timeout(Duration::from_secs(1), work).await.expect_err("times out");
        assert_eq!(receiver.await, Ok(7));
    }
}
