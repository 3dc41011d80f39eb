//! From the commit to the outcome: steps 4 to 6.
//!
//! [`dispatch`](self::dispatch) gives each output a queue with workers of its own. A
//! worker makes an [`attempt`](self::attempt) and [`settle`](self::settle)s it.

mod attempt;
mod cancel;
mod circuit;
mod claim;
mod credentials;
mod dispatch;
mod ending;
mod erase;
mod fate;
pub(super) mod findings;
mod health;
mod history;
mod lease;
mod lifecycle;
pub(super) mod outgoing;
mod pace;
mod queue;
mod reconnect;
mod replayed;
mod settle;
mod slow;
mod sweep;
mod timers;
mod workers;

pub(super) use self::{
    dispatch::Deliverer,
    lifecycle::DelivererParts,
    queue::{QueuedDelivery, Reservation},
    workers::Workers,
};
