//! Connectors of one's own, outside of Millstream's workspace: `feed` holds them.

pub mod feed;
