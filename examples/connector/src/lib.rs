//! Connectors of one's own, outside of Millstream's workspace: for rows in `feed`, for tables in `mirror`.

pub mod feed;
pub mod mirror;
